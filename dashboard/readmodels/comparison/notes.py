"""Notes on the validity of a comparison."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from dashboard.readmodels.comparison import time_origin
from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted, value_text
from twin.analysis.changed_jobs import Changes, edits_of_jobs
from twin.analysis.comparability import Basis, comparable, kin, named
from twin.analysis.comparison import MAX_IN_FULL, Compared
from twin.files.stored_jobs import field_of
from twin.mirror.whatif.cut import slot_before
from twin.models import Run
from twin.scenarios import store


def notes_of_lost(runs: Sequence[Run], lost: Sequence[str]) -> Iterator[str]:
    """Note on runs of the list that no longer exist. lost: a sentence on each."""
    if lost:
        left = (
            f"run {runs[0].pk} is the baseline"
            if len(runs) > 1
            else f"only run {runs[0].pk} is left; choose another run to compare with it"
        )
        yield f"{' '.join(lost)} The comparison is made without {'it' if len(lost) == 1 else 'them'}; {left}."


def notes_of(
    runs: Sequence[Run], found: Compared, bases: Sequence[Basis], changed: Sequence[Changes | None]
) -> Iterator[str]:
    """Notes on the validity of the comparison, for all runs including those only listed."""
    first = runs[0]
    pairs = list(zip(runs, bases, strict=True))
    unlike = [(run, basis.models) for run, basis in pairs if not comparable(basis.models, bases[0].models)]
    if unlike:
        rest = _by_runs((named(models), run) for run, models in unlike)
        yield (
            f"The runs have different execution models: {named(bases[0].models)} in run {first.pk}, {rest}. The same "
            "job has different durations, so the metrics of "
            f"{'these runs' if len(unlike) > 1 else f'run {unlike[0][0].pk}'} are not ranked."
        )
    if time_origin.differing_starts(runs):
        yield time_origin.NOTE
    yield from _notes_of_cuts([run for run, basis in pairs if basis.from_ms])
    unrelated = [run for run, basis in pairs if not kin(basis, bases[0])]
    if unrelated:
        rest = _by_runs((f"“{run.scenario.trace.name}”", run) for run in unrelated)
        yield (
            f"The runs have different traces: “{first.scenario.trace.name}” in run {first.pk}, {rest}. Their jobs "
            "differ, so the metrics of "
            f"{'these runs' if len(unrelated) > 1 else f'run {unrelated[0].pk}'} are not ranked."
        )
    for run, change in zip(runs, changed, strict=True):
        if change is not None and change.any:
            yield _note_of_changes(first, run, change)
    unlike_slots = [pair for pair, change in zip(pairs, changed, strict=True) if change is not None and change.slots]
    if unlike_slots:
        yield _note_of_slots(pairs[0], unlike_slots)
    if len(runs) > MAX_IN_FULL:
        yield (
            f"{len(runs):,} runs are listed. The first {MAX_IN_FULL:,} are compared in full; for the others only the "
            "metrics stored at their end are shown, and none if they ended after the time that is compared."
        )
    going = [run for run in runs[:MAX_IN_FULL] if run.status != Run.FINISHED]
    begun = [run for run in going if run.last_seq]
    if begun:
        yield (
            f"{_named(begun)} not finished: the comparison covers the time up to "
            f"{time_origin.common_moment(runs, found.until_ms)}, which all runs have reached."
        )
    idle = [run for run in going if not run.last_seq]
    if idle:
        yield f"{_named(idle)} no events yet: there is nothing to compare."
    shared, sizes = len(found.rows[0]), [len(side.jobs) for side in found.sides]
    if any(size != shared for size in sizes):
        of = ", ".join(f"{size:,} of run {side.run_id}" for size, side in zip(sizes, found.sides, strict=True))
        if all(found.same_trace):
            common = _common(f"{shared:,}", shared)
            covered = "Differences, distributions and breakdowns cover these"
        else:  # job 7 of one trace is not job 7 of another
            common = _common(counted(shared, "id"), shared)
            covered = "Distributions and breakdowns cover the jobs with these ids"
        yield (
            f"The runs do not have the same jobs: {common} ({of}). {covered}; the metrics of each run cover all of its "
            "own jobs."
        )
    yield from _notes_of_listed(runs)
    related = [kin(basis, bases[0]) and max(basis.from_ms, bases[0].from_ms) > 0 for basis in bases]
    others = [
        run
        for run, cut in zip(runs, related, strict=True)
        if run.scenario.cluster_id != first.scenario.cluster_id and not cut
    ]
    if others:
        yield "The runs have different clusters, so differences are not caused by the scheduler alone."


def _note_of_slots(first: tuple[Run, Basis], others: Sequence[tuple[Run, Basis]]) -> str:
    """Note on runs whose utilities count slots of another length than those of the first run."""
    lengths = _by_runs((value_text(basis.slot_ms, "ms"), run) for run, basis in (first, *others))
    which = "these runs" if len(others) > 1 else f"run {others[0][0].pk}"
    return (
        f"The runs have slots of different lengths: {lengths}. A utility depends on the number of slots "
        f"that a job takes, so the total utility of {which} is not ranked."
    )


def _note_of_changes(first: Run, run: Run, change: Changes) -> str:
    """Note on edits that change jobs: what differs, by which edits, and what is not ranked for this reason."""
    counts = (
        (int(change.work.sum()), "with other work, arrival or demands"),
        (int((change.worth & ~change.work).sum()), "with another utility"),
        (change.only_first, f"only in run {first.pk}"),
        (change.only_other, f"only in run {run.pk}"),
    )
    differ = ", ".join(f"{count:,} {what}" for count, what in counts if count)
    edits = "; ".join(f"run {one.pk}: “{sentence}”" for one in (first, run) for sentence in edits_of_jobs(one))
    if change.work.any():
        rule = "the metrics are not ranked, except for the mean JCT of common jobs, which covers the unchanged jobs"
    elif change.only_first or change.only_other:
        rule = "the metrics of all jobs are not ranked"
    else:
        rule = "the total utility is not ranked"
    because = f" because of edits ({edits})" if edits else ""
    return f"The jobs of run {run.pk} are not those of run {first.pk}{because}: {differ}. So {rule}."


def _notes_of_cuts(runs: Sequence[Run]) -> Iterator[str]:
    """A note for the runs of each cut: the shadows of a cluster are cuts of one run at one time."""
    by_cut = groupby(
        runs, lambda run: (run.scenario.trace.report["cut"]["run"], run.scenario.trace.report["cut"]["at_ms"])
    )
    for (of, at_ms), cut in by_cut:
        cuts = list(cut)
        *others, last = [str(run.pk) for run in cuts]
        named, begin = f"Run {last} is a cut", "it begins"
        if others:
            named, begin = f"Runs {', '.join(others)} and {last} are cuts", "they begin"
        yield (
            f"{named} of run {of} at {cuts[0].moment(at_ms)}: {begin} with the jobs that were running or waiting at "
            f"that time. There, the JCT of waiting jobs is counted from that time, and that of running jobs from the "
            f"start of the slot before it ({' or '.join(_slot_starts(cuts, at_ms))}); in run {of} both are counted "
            "from the arrival. Jobs that were running are assigned to servers again, so the first divergence leaves "
            "them out."
        )


def _slot_starts(cuts: Sequence[Run], at_ms: int) -> list[str]:
    """Arrivals of the jobs that were running, as texts (twin/mirror/whatif/cut.py, started_before)."""
    lengths = {run.scenario.trace.report["slot_ms"] for run in cuts}
    return [cuts[0].moment(slot_before(at_ms, slot_ms)) for slot_ms in sorted(lengths)]


def _notes_of_listed(runs: Sequence[Run]) -> Iterator[str]:
    """Notes on runs that are not compared in full. ModelError if one has no common jobs with the first."""
    ids = set(field_of(store.of_run(runs[0])[1], "id")) if len(runs) > MAX_IN_FULL else set()
    # (number of ids in common with the first run, number of own ids) -> numbers of the runs
    alike: dict[tuple[int, int], list[str]] = {}
    for run in runs[MAX_IN_FULL:]:
        own = set(field_of(store.of_run(run)[1], "id"))
        shared = len(ids & own)
        if not shared:
            raise ModelError(f"runs {runs[0].pk} and {run.pk} have no common job ids; compare runs of the same trace")
        if own != ids:
            alike.setdefault((shared, len(own)), []).append(str(run.pk))
    first = runs[0].pk
    for (shared, all_ids), members in alike.items():
        *others, last = members
        who = f"Runs {', '.join(others)} and {last} do" if others else f"Run {last} does"
        each = "each" if others else "it"
        theirs = "Their metrics cover all of their own jobs" if others else "Its metrics cover all of its own jobs"
        yield (
            f"{who} not have the same jobs as run {first}: {each} has {counted(shared, 'id')} in common with run "
            f"{first} (of {len(ids):,} in run {first} and {all_ids:,} of its own). {theirs}."
        )


def _by_runs(facts: Iterable[tuple[str, Run]]) -> str:
    """'1h in run 4, 10m in runs 5, 6 and 7'"""
    runs: dict[str, list[str]] = {}
    for fact, run in facts:
        runs.setdefault(fact, []).append(str(run.pk))
    said = []
    for fact, (*others, last) in runs.items():
        said.append(f"{fact} in runs {', '.join(others)} and {last}" if others else f"{fact} in run {last}")
    return ", ".join(said)


def _common(what: str, count: int) -> str:
    """'1 id is common', '12 ids are common'"""
    return f"{what} {'is' if count == 1 else 'are'} common"


def _named(runs: Sequence[Run]) -> str:
    """Beginning of a sentence: 'Runs 1 (queued), 2 (running) and 3 (queued) have'"""
    *others, last = [f"{run.pk} ({run.status})" for run in runs]
    return f"Runs {', '.join(others)} and {last} have" if others else f"Run {last} has"
