"""Schedulers of a run over time; edits may change the scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, TextField
from django.db.models.functions import Cast

from scheduling.kernel.registry import recorders, schedulers
from scheduling.kernel.scheduler import BaseScheduler
from twin.models import Run
from twin.moments import run_moment
from twin.scenarios import phase_rules, store
from twin.scenarios.phase_rules import PhaseRules

VERB = "change_scheduler"


class Charge(NamedTuple):
    """Scheduler from a time on until the next one."""

    from_ms: int
    name: str
    title: str


def of_run(run: Run) -> list[Charge]:
    """Schedulers in order of time, without one that never started because the run ended before."""
    ended = run.status not in Run.ACTIVE
    found = in_order(run.scenario.scheduler, run.edits)
    return [one for one in found if one.from_ms <= run.sim_ms or not ended] or found[:1]


def in_order(scheduler: str, edits: Sequence[Any]) -> list[Charge]:
    """First scheduler and those set by plain edits, without reading cluster and jobs."""
    known = {**schedulers(), **recorders()}
    found: list[Charge] = []
    for from_ms, name in ((0, scheduler), *sorted(_changes(edits), key=lambda change: change[0])):
        if found and found[-1].from_ms == from_ms:
            found.pop()
        if not found or found[-1].name != name:
            found.append(Charge(from_ms, name, known[name].title if name in known else name))
    return found


def current(run: Run) -> Charge:
    """Scheduler at the time that the run has reached."""
    charges = of_run(run)
    return next((one for one in reversed(charges) if one.from_ms <= run.sim_ms), charges[0])


def current_parameters(run: Run) -> Mapping[str, Any]:
    """Parameters of the scheduler at that time, as the scenario or its newest edit gives them."""
    begun = [stage for stage in store.stages_of(run.scenario, run.edits) if stage.at_ms <= run.sim_ms]
    return begun[-1].state.parameters


class InCharge(NamedTuple):
    """Scheduler and rules from a time on; the class is None where it cannot be imported any more."""

    charge: Charge
    rules: PhaseRules
    scheduler: type[BaseScheduler] | None


def in_charge(run: Run) -> list[InCharge]:
    """Schedulers and rules in order of time, as by `of_run`."""
    stages, charges = store.stages_of(run.scenario, run.edits), of_run(run)
    begun = [[stage for stage in stages if stage.at_ms <= one.from_ms][-1] for one in charges]
    rules = phase_rules.of_stages(run, begun)
    return [
        InCharge(charge, own, None if own.scheduler is None else type(own.scheduler))
        for charge, own in zip(charges, rules, strict=True)
    ]


def missing(run: Run) -> list[str]:
    """Reasons why schedulers of the run cannot be used any more, a sentence for each of them."""
    reasons = list(dict.fromkeys(one.rules.missing for one in in_charge(run)))
    return [f"{reason[0].upper()}{reason[1:]}." for reason in reasons if reason]


class HandedOver(NamedTuple):
    """Run with an edit that changes the scheduler: its first scheduler, and all that have been in charge so far."""

    pk: int
    first: str  # of the scenario; an edit at time 0 replaces it
    names: frozenset[str]


def handed_over(runs: QuerySet[Run]) -> list[HandedOver]:
    """The runs among these with an edit that changes the scheduler, in one query that reads no log."""
    rows = _changed(runs).order_by().values_list("pk", "scenario__scheduler", "edits", "sim_ms")
    return [
        HandedOver(pk, first, frozenset(one.name for one in in_order(first, edits) if one.from_ms <= sim_ms))
        for pk, first, edits, sim_ms in rows
    ]


def under(name: str, handed: Sequence[HandedOver]) -> Q:
    """The runs of which the scheduler has been in charge so far. handed: all that were handed over."""
    gained = [run.pk for run in handed if name in run.names and name != run.first]
    never = [run.pk for run in handed if name not in run.names and name == run.first]
    return (Q(scenario__scheduler=name) & ~Q(pk__in=never)) | Q(pk__in=gained)


def counts(runs: QuerySet[Run]) -> dict[str, int]:
    """{scheduler: number of the runs of which it has been in charge so far}."""
    found = Counter(dict(runs.order_by().values_list("scenario__scheduler").annotate(Count("pk"))))
    for run in handed_over(runs):
        found[run.first] -= 1
        found.update(run.names)
    return dict(+found)


def found_by(text: str) -> Q:
    """The runs of which a scheduler has this in its name or title, as the first one or set by an edit."""
    asked = text.lower()
    titled = [name for name, cls in schedulers().items() if asked in cls.title.lower()]
    edited = _changed(Run.objects.select_related("scenario"))
    later = [
        run.pk
        for run in edited.only("edits", "status", "sim_ms", "scenario__scheduler")
        if any(asked in one.name.lower() or asked in one.title.lower() for one in of_run(run)[1:])
    ]
    return Q(scenario__scheduler__icontains=text) | Q(scenario__scheduler__in=titled) | Q(pk__in=later)


def words_of(run: Run, *, by_name: bool = False) -> str:
    """The schedulers of the run in words."""
    return words(of_run(run), run.epoch_ms, by_name=by_name)


def words(charges: Sequence[Charge], epoch_ms: int | None = None, *, by_name: bool = False) -> str:
    """FIFO → SRTF at 1d 02:00:00: by title, or by name, with moments as pages write them. epoch_ms: of a run."""
    first, *others = [(one.name if by_name else one.title, one.from_ms) for one in charges]
    return " → ".join([first[0], *(f"{called} at {run_moment(from_ms, epoch_ms)}" for called, from_ms in others)])


def _changed(runs: QuerySet[Run]) -> QuerySet[Run]:
    """The runs with an edit that changes the scheduler, even if it is switched off."""
    return runs.alias(edits_text=Cast("edits", TextField())).filter(edits_text__contains=f'"{VERB}"')


def _changes(edits: Sequence[Any]) -> Iterator[tuple[int, str]]:
    return (
        (edit.get("at_ms", 0), edit.get("scheduler", "fifo"))
        for edit in edits
        if edit["verb"] == VERB and not edit.get("off")
    )
