"""Replays: the model of a cluster's own policy on a window of it, against what happened.

A replay is a set with one shadow. Its queue is in the order of the cluster's priorities, its slots are short, and it
has all jobs of the window: only then a difference of starts says something about the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from django.conf import settings
from django.utils import timezone

from scheduling.forecast.agreement import agreement
from scheduling.kernel.registry import Unavailable, build, obstacle, scheduler_class
from scheduling.model.limits import MAX_INT, MIN_REAL
from scheduling.model.training_models import training_model_of
from scheduling.model.values import Cluster, Job
from scheduling.reporting.quantities import counted, duration
from scheduling.slotted.backfilling import LIMITS, UTILITY
from scheduling.slotted.slurm.passes import as_text
from twin.analysis.comparison.decisions import decisions_of
from twin.analysis.comparison.outcomes import FOREVER, outcomes_of
from twin.connectors.constraints import Constraints, from_plain
from twin.eventlog import stored_states
from twin.files.job_table import JobTable
from twin.files.stored_jobs import field_of
from twin.mirror import stored
from twin.mirror.as_values import plain_name
from twin.mirror.connecting import condition
from twin.mirror.differ import Mirror
from twin.mirror.forecasts.learning import unpack
from twin.mirror.whatif.cut import RUNNING, Part, turn
from twin.mirror.whatif.jobs import job_table
from twin.models import Connection, Forecasting, Run, ShadowSet
from twin.scenarios import store
from twin.studies.races import trained_by
from twin.studies.shadows.eligibility import eligible_ms
from twin.studies.shadows.entrants import Entrant
from twin.studies.shadows.in_step import Real, in_step
from twin.studies.shadows.metrics import History
from twin.studies.shadows.window import Window, window_of

if TYPE_CHECKING:  # its file may be missing
    from scheduling.algorithms.slurm import Slurm

DAY_MS = 24 * 3_600_000
MIN_FIRST_RUN_MS = 3_600_000  # of the first run of a cluster, before its first replay
MAX_JOBS, MAX_SLOTS = 20_000, 100_000
HALF_SECOND_MS = 500
WITHIN_MS = 30_000  # backfill interval of a cluster that does not report one
MIN_INTERVAL_MS = 10_000  # of passes whose whole seconds say when they ran: shorter ones would change their order
RETRY = timedelta(hours=1)
SLURM, EASY = "slurm", "easy"  # models of policies


class Replayed(NamedTuple):
    """The window of a replay with the priorities of its jobs, each of which holds its nodes for pause_ms more.

    passes: times of the cluster's backfill passes in ms of the log; empty where they are not known
    """

    window: Window
    pause_ms: int
    passes: list[int]


def cut(of: ShadowSet) -> Replayed:
    """The window of a replay."""
    known = constraints_of(of.connection)
    window = window_of(
        of.connection, of.length_ms, of.until_ms, of.run, most_jobs=MAX_JOBS, most_slots=MAX_SLOTS,
        least_slot_ms=HALF_SECOND_MS if known.passes else 1_000, every=bool(known.passes),
    )  # fmt: skip
    made = window.made
    passes = passes_of(window, known)
    pause_ms = pause_of(of.connection)
    late = eligible_ms(made.moment.run, window.from_ms, window.until_ms)
    parts = [part._replace(run_ms=part.run_ms + pause_ms) for part in made.cut.parts]
    parts = sorted((_when_eligible(part, late, made.moment.mirror) for part in parts), key=turn)
    table = with_priorities(job_table(parts, made.cluster.slot_ms, by_node=bool(known.passes)), parts)
    cluster = with_queues(made.cluster, made.moment.mirror) if known.passes else made.cluster
    queues = {part.known.fact.queue for part in parts}
    blocked = sum(part.known.index in late and part.state != RUNNING for part in parts)
    sentences = [*window.sentences, *assumptions(known, len(queues), pause_ms, blocked, len(passes))]
    made = replace(made, cut=replace(made.cut, parts=parts), table=table, cluster=cluster, purpose=of.purpose)
    return Replayed(replace(window, made=made, sentences=tuple(sentences)), pause_ms, passes)


def passes_of(window: Window, known: Constraints) -> list[int]:
    """Moments of the cluster's backfill passes, where they are long enough apart; on average in the middle of a second.

    They begin two intervals before the window.
    """
    interval_ms = known.passes.get("backfill_ms", 0)
    if interval_ms < MIN_INTERVAL_MS:
        return []
    seen = window.made.moment.mirror.passes.between(max(0, window.from_ms - 2 * interval_ms), window.until_ms)
    return [at_ms + HALF_SECOND_MS for at_ms in seen]


def _when_eligible(part: Part, late: Mapping[int, int], mirror: Mirror) -> Part:
    """The part, which arrives when its job became eligible, but not after its start."""
    if part.state == RUNNING or part.known.index not in late:
        return part
    starts = [attempt.started_ms - mirror.epoch_ms for attempt in part.known.attempts]
    first = min((ms for ms in starts if ms >= part.arrival_ms), default=MAX_INT)
    return part._replace(arrival_ms=max(part.arrival_ms, min(late[part.known.index], first)))


def assumptions(known: Constraints, queues: int, pause_ms: int, blocked: int = 0, passes: int = 0) -> list[str]:
    """Assumptions of the model for users, in sentences.

    blocked: jobs that were not eligible at once. passes: number of backfill passes whose moments are known.
    """
    interval_ms = known.backfill_ms or WITHIN_MS
    found = [
        f"Jobs are backfilled every {duration(interval_ms)}, which is also the tolerance of starts.",
        "The queue has the order of the cluster's last known priorities, and reservations last as long as time limits.",
        "Jobs that were running when the window began are not compared.",
    ]
    if blocked:
        found.append(
            f"{counted(blocked, 'job')} first waited for something other than resources (a dependency, a begin time, a "
            "release, a licence, a reservation or a limit): in the replay they arrive at the end of that wait on the "
            "cluster."
        )
    if pause_ms and known.passes:
        found.append(
            f"Each job holds its nodes for {duration(pause_ms)} more: the cluster reports whole seconds, and an end is "
            "half a second later on average."
        )
    elif pause_ms:
        found.append(
            f"Each job holds its nodes for {duration(pause_ms)} more, the usual time from an end to the next start."
        )
    if known.passes:
        found.append(
            f"The main scheduler runs at most once every {duration(known.passes['main_ms'])}, and the partitions have "
            "the nodes that they have now."
        )
        found.append(
            f"Backfill passes run when the cluster ran them: the times of {passes:,} passes are known, to the second."
            if passes
            else "The times of the passes are not known: a start at another pass changes all starts that follow."
        )
        found.append("Reservations of nodes, required nodes and preemption are not simulated.")
    elif queues > 1:
        found.append(f"The model has one queue for all {queues} partitions, and each job may run on every node.")
    return found


def with_queues(cluster: Cluster, mirror: Mirror) -> Cluster:
    """The cluster with the queues of its nodes."""
    nodes = sorted(mirror.nodes.values(), key=lambda node: node.index)
    queues = [tuple(sorted(plain_name(name) for name in node.fact.queues)) for node in nodes]
    servers = [replace(server, queues=own) for server, own in zip(cluster.servers, queues, strict=True)]
    return replace(cluster, servers=tuple(servers))


def with_priorities(table: JobTable, parts: Sequence[Part]) -> JobTable:
    """The jobs with the priorities that the cluster gave them, as their utilities at any time."""
    rows = [(max(2.0 * (part.known.fact.priority or 0), MIN_REAL), 0.0, 0.0) for part in parts]
    return replace(table, utility=np.array(rows, dtype=float))


def entrant(cluster: Cluster, known: Constraints, passes: Sequence[int] = ()) -> Entrant:
    """The model of the cluster's policy, in the order of priorities and with time limits as run times.

    It is Slurm's own where the cluster reports its settings, else EASY backfilling. passes: times of backfill passes.
    Unavailable where the file of the model is missing.
    """
    own: dict[str, Any] = {"order": UTILITY, "estimates": LIMITS}
    if known.passes:
        own |= {"spread": True, "known_passes": as_text(passes, known.passes["backfill_ms"]), **known.passes}
    else:
        own["backfill_ms"] = known.backfill_ms or WITHIN_MS
    name = SLURM if known.passes else EASY
    if reason := obstacle(name):
        raise Unavailable(reason)
    model = scheduler_class(name)
    return Entrant(model, trained_by(model, training_model_of(cluster)) | own)


def constraints_of(connection: Connection) -> Constraints:
    """Constraints that the cluster has reported about its scheduler."""
    kept = Forecasting.objects.filter(pk=connection.pk).values_list("constraints", flat=True).first()
    return from_plain(kept)


def within_ms(connection: Connection) -> int:
    """Interval of the cluster's backfilling, the tolerance of starts."""
    return constraints_of(connection).backfill_ms or WITHIN_MS


def pause_of(connection: Connection) -> int:
    """Time for which a job holds its nodes after its end, in ms.

    The model of Slurm waits for the passes itself; only the half second is missing by which Slurm, which reports whole
    seconds, states ends too early on average. Otherwise it is the time that usually passes from an end to the next
    start, up to a backfill interval.
    """
    if constraints_of(connection).passes:
        return HALF_SECOND_MS
    kept = Forecasting.objects.filter(pk=connection.pk).values_list("learned", flat=True).first()
    return min(unpack(bytes(kept)).cycle_ms, within_ms(connection)) if kept else 0


def in_step_of(window: Window, found: Entrant, jobs: Sequence[Job], tolerance_ms: int) -> float | None:
    """Share of the starts that the model decides as the cluster did, given the real state; None where not computed."""
    if found.scheduler.name != SLURM:
        return None
    model, mirror = cast("Slurm", build(SLURM, found.parameters)), window.made.moment.mirror
    indices = {name: node.index for name, node in mirror.nodes.items()}
    real = [_real(part, window, indices) for part in window.made.cut.parts]
    return in_step(model, window.made.cluster, jobs, real, tolerance_ms)


def _real(part: Part, window: Window, indices: Mapping[str, int]) -> Real:
    """History of a job in the window: its first execution in it."""
    epoch_ms = window.made.moment.mirror.epoch_ms
    for attempt in part.known.attempts:
        end_ms = -1 if attempt.ended_ms is None else attempt.ended_ms - epoch_ms
        start_ms = max(part.arrival_ms, attempt.started_ms - epoch_ms)
        if end_ms < 0 or end_ms > start_ms:
            servers = sorted({indices[share.node] for share in attempt.shares if share.node in indices})
            counts = part.state != RUNNING and start_ms < window.until_ms
            return Real(part.arrival_ms, start_ms, end_ms, tuple(servers), counts)
    return Real(part.arrival_ms, -1, -1, (), False)


def metrics_of(run: Run, of: ShadowSet, arrives: Sequence[bool]) -> dict[str, Any]:
    """Agreement of a finished replay with what happened. arrives: [job] whether it arrived in the window."""
    cluster, jobs = store.of_run(run)
    state = stored_states.at(run.pk)
    found = outcomes_of(state, decisions_of(state, cluster), cluster, len(jobs), FOREVER)
    history, tolerance_ms = History.of(of), within_ms(of.connection)
    ended = np.where(np.array(arrives, dtype=bool), history.completed_ms, -1)
    done = np.where(found.completed_ms >= 0, found.completed_ms - of.facts["pause_ms"], -1)
    real, simulated = (history.start_ms, ended), (found.start_ms, done)
    result = agreement(history.arrived_ms, real, simulated, tolerance_ms)
    first = None
    if result.first is not None:
        first = {
            "job": str(field_of(jobs, "id")[result.first]), "real_ms": int(history.start_ms[result.first]),
            "simulated_ms": int(found.start_ms[result.first]),
        }  # fmt: skip
    more = {
        "first": first,
        "within_ms": tolerance_ms,
        "in_step": of.facts.get("in_step"),
    }
    return {**result._asdict(), **more}


def arrivals(window: Window) -> list[bool]:
    """[job] whether it arrived in the window, or waited when it began; the others ran then."""
    return [part.state != RUNNING for part in window.made.cut.parts]


def due(connection: Connection) -> Run | None:
    """The mirrored run that the twin has to replay next: the last one that is over, which is a day, or the first."""
    run = connection.run
    if not settings.SHADOWS_EVERY_S or run is None or run.clock_wall is None:
        return None
    sets = connection.shadow_sets.filter(purpose=ShadowSet.REPLAY)
    if sets.filter(created_at__gt=timezone.now() - RETRY).exists():
        return None
    if run.follows is not None:
        return None if sets.filter(run=run.follows).exists() else run.follows
    followed = condition.condition(connection).state == condition.FOLLOWING
    long = run.sim_ms - stored.first_ms(run) >= MIN_FIRST_RUN_MS
    return run if followed and long and not sets.exists() else None
