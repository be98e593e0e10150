"""Forks: scenarios that begin with the log of a run up to a given time, and continue with edits of their own.

The log of a fork's run begins with a copy of the parent's, so the past is there at once; the state at its end is
computed from the parent's last checkpoint at or before the time of the fork. Events depend on nothing but the scenario
and its edits: the copied log is, to the byte, what the run would compute from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from scheduling.model.values import Event
from twin.eventlog import event_log
from twin.infra.errors import Refused
from twin.models import Checkpoint, EventBatch, Run, Scenario
from twin.scenarios import beliefs, store
from twin.scenarios.edits import parse, plain
from twin.scenarios.edits.base import Edit


def fork(run_id: int, at_ms: int | None, name: str, user: Any = None, *, reuse: bool = False) -> Scenario:
    """An editable scenario that goes on like the run until at_ms (None: its newest moment), with its edits.

    reuse: the user's scenario of this run that was never edited nor run takes the new time, if there is one; a page
    that opens a scenario at each click stores no more than one.

    Refused when the run is gone, has not come so far, or is edited at that very moment.
    """
    with transaction.atomic():
        run = Run.objects.select_related("scenario").select_for_update(of=("self",)).filter(pk=run_id).first()
        if run is None:
            raise Refused(f"run {run_id} no longer exists; fork another run")
        if run.last_seq == 0:
            raise Refused(f"run {run.pk} has not started; wait for its first event, or copy its scenario")
        beliefs.refuse(run, "forked")
        at_ms = run.sim_ms if at_ms is None else at_ms
        if at_ms > (reached_ms := _reached_ms(run)) and run.status in Run.ACTIVE:
            raise Refused(
                f"run {run.pk} has reached {run.moment(reached_ms)}, not {run.moment(at_ms)}; choose a time up to that"
            )
        if at_ms < 1:
            raise Refused(
                f"a fork must start after {run.moment(0)}, the start of the run; choose a later time, or copy the "
                "scenario to change it from the start"
            )
        cluster = store.cluster_of(run.scenario.cluster_id)
        if cluster.horizon_slots and at_ms >= cluster.horizon_slots * cluster.slot_ms:
            ends_ms = cluster.horizon_slots * cluster.slot_ms
            raise Refused(
                f"the horizon of run {run.pk} is {run.moment(ends_ms)}, so a fork at {run.moment(at_ms)} has no "
                "effect; choose a time before the horizon"
            )
        if any(edit.at_ms == at_ms for edit in parse(run.edits)):
            raise Refused(f"run {run.pk} has an edit at {run.moment(at_ms)}; fork it 1 ms earlier or later")
        of = run.scenario
        kept = _kept(run, at_ms)
        title = (name or _title(run, at_ms))[:200]
        if reuse and (draft := _untouched(run, user)):
            draft.name, draft.fork_ms, draft.edits, draft.version = title, at_ms, kept, draft.version + 1
            draft.save(update_fields=["name", "fork_ms", "edits", "version"])
            return draft
        return Scenario.objects.create(
            name=title, cluster=of.cluster, trace_id=of.trace_id, scheduler=of.scheduler, parameters=of.parameters,
            seed=of.seed, edits=kept, parent=run, fork_ms=at_ms, created_by=user,
        )  # fmt: skip


def _title(run: Run, at_ms: int) -> str:
    return f"{run.scenario.name}, fork of run {run.pk} at {run.moment(at_ms)}"


def _untouched(run: Run, user: Any) -> Scenario | None:
    """The user's fork of the run that has its first name and edits, and that nothing has used."""
    drafts = Scenario.objects.select_for_update(of=("self",)).filter(
        parent=run, created_by=user, runs=None, sweeps=None
    )
    for draft in drafts.order_by("-pk"):
        assert draft.fork_ms is not None
        if draft.name == _title(run, draft.fork_ms)[:200] and len(draft.edits) == len(_kept(run, draft.fork_ms)):
            return draft
    return None


def _kept(run: Run, at_ms: int) -> list[dict[str, Any]]:
    return [edit for edit in run.edits if edit.get("at_ms", 0) < at_ms and not edit.get("off")]


def _reached_ms(run: Run) -> int:
    """End of the time for which the log is complete: for a live run, until its next event."""
    if run.mode_rules.paced and run.next_event_ms is not None:
        return max(run.sim_ms, run.next_event_ms - 1)
    return run.sim_ms


def check_edits(scenario: Scenario, edits: Sequence[Any]) -> None:
    """Check that the edits leave the past of a fork as it is; Refused otherwise."""
    if scenario.fork_ms is None:
        return
    for edit, why in too_early(scenario, parse(edits)):
        raise Refused(f"{edit.subject}: {why}")
    if past_edits(edits, scenario.fork_ms) != past_edits(scenario.edits, scenario.fork_ms):
        raise Refused(
            f"edits before the fork at {scenario.moment(scenario.fork_ms)} cannot be changed; remove only later ones"
        )


def too_early(scenario: Scenario, edits: Sequence[Edit]) -> list[tuple[Edit, str]]:
    """Edits before the fork that did not come with it, and what is wrong with them."""
    if scenario.fork_ms is None:
        return []
    kept = past_edits(scenario.edits, scenario.fork_ms)
    fork = scenario.moment(scenario.fork_ms)
    why = "takes effect at {}, before the fork at {}; choose the time of the fork or a later one"
    early = [edit for edit in edits if edit.at_ms < scenario.fork_ms]
    return [(edit, why.format(scenario.moment(edit.at_ms), fork)) for edit in early if plain(edit) not in kept]


def past_edits(edits: Sequence[Any], fork_ms: int) -> list[dict[str, Any]]:
    """Edits that took effect before the fork, with every field."""
    return [plain(edit) for edit in parse(edits) if edit.at_ms < fork_ms]


def inherit(run: Run, parent: Run, fork_ms: int) -> None:
    """Copy of the parent's log up to and including fork_ms, and of the last checkpoint in that part, to a new run.

    A cut of a live cluster has its own cluster and jobs (twin/mirror/whatif): only its place in the family is set.
    """
    if parent.mode_rules.forked_by_cut:
        run.parent, run.fork_ms = parent, fork_ms
        run.save(update_fields=["parent", "fork_ms"])
        return
    batches = EventBatch.objects.filter(run=parent, first_ms__lte=fork_ms).order_by("first_seq")
    seq, last_ms = 0, 0
    copies: list[EventBatch] = []
    for batch in batches.iterator(chunk_size=20):
        if batch.last_ms > fork_ms or batch.last_seq == parent.last_seq:
            events = _before(event_log.decode(batch.payload), fork_ms)
            if not events:
                break
            batch.last_seq, batch.last_ms, batch.payload = events[-1].seq, events[-1].at_ms, event_log.encode(events)
        seq, last_ms = batch.last_seq, batch.last_ms
        batch.pk, batch.run = None, run
        copies.append(batch)
    EventBatch.objects.bulk_create(copies, batch_size=50)
    state = Checkpoint.objects.filter(run=parent, seq__lte=seq).first()
    if state is not None:
        Checkpoint.objects.create(run=run, seq=state.seq, payload=state.payload)
    run.last_seq, run.sim_ms, run.parent, run.fork_ms = seq, last_ms, parent, fork_ms
    run.save(update_fields=["last_seq", "sim_ms", "parent", "fork_ms"])


def family(run: Run, among: QuerySet[Run] | None = None) -> list[dict[str, Any]]:
    """Forks of each other as a tree, depth first: {id, parent, fork_ms, depth, name, status, wanted, edits}.

    edits: sentences about the edits that its parent does not have. among: the runs that the reader may see.
    """
    among = Run.objects.all() if among is None else among
    root = run
    seen = {run.pk}
    while root.parent_id is not None and root.parent_id not in seen:
        above = among.select_related("scenario").filter(pk=root.parent_id).first()
        if above is None:
            break
        root = above
        seen.add(root.pk)
    rows: list[dict[str, Any]] = []
    stack = [(root, 0)]
    while stack:
        found, depth = stack.pop()
        rows.append({
            "id": found.pk, "parent": found.parent_id, "fork_ms": found.fork_ms, "depth": depth,
            "name": found.scenario.name, "scenario": found.scenario_id, "status": found.status, "wanted": found.wanted,
            "mode": found.mode, "edits": _sentences(found),
        })  # fmt: skip
        children = among.filter(parent=found).select_related("scenario").order_by("-pk")
        stack += [(child, depth + 1) for child in children]
    return rows


def _sentences(run: Run) -> list[str]:
    since = run.fork_ms
    return [edit.sentence() for edit in parse(run.edits, run.epoch_ms) if since is None or edit.at_ms >= since]


def _before(events: Iterable[Event], fork_ms: int) -> list[Event]:
    """Events up to the end of the instant, without those that end a run."""
    found = [event for event in events if event.at_ms <= fork_ms]
    if found and found[-1].kind == "run_finished":
        found.pop()
        while found and found[-1].kind == "decided" and found[-1].data["kind"] == "unfinished":
            found.pop()
    return found
