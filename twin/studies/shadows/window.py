"""The last hours of a live cluster as cluster and jobs, and what happened to each job in them.

It is a cut at the beginning of the window (mirror/whatif) with the arrivals that followed. Other than in a cut, nodes
return as they did, and a job whose end is not known runs as long as similar jobs did.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from scheduling.model.limits import MAX_INT
from scheduling.model.provenance import PREDICTED
from scheduling.model.resizes import Resize, clusters_of
from scheduling.model.values import Cluster, Job, Server
from scheduling.reporting.quantities import counted, duration
from scheduling.run_times.predictor import Predictor
from scheduling.run_times.similar_median import SimilarMedian
from twin.connectors.facts import ENDED
from twin.infra.errors import Refused
from twin.mirror import stored
from twin.mirror.as_values import amounts_of, capacity_of, server_of, sizing
from twin.mirror.differ import Mirror
from twin.mirror.history import idle_only
from twin.mirror.jobs.known import KnownJob
from twin.mirror.whatif.cut import MIN_WORK_MS, RUNNING, Choice, Cut, Part, as_long, end_ms, parts_of
from twin.mirror.whatif.inputs import slot_sentence
from twin.mirror.whatif.jobs import job_table
from twin.mirror.whatif.moments import Made, Moment, moment_of, reached_ms
from twin.models import Connection, Run
from twin.moments import moment_utc

SLOTS_MS = (500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000)
MAX_SLOTS = 2_000  # from the beginning of the log to the end of the window and of the longest job in it
MAX_JOBS = 1_000  # of a set: a longer window is halved until it has no more
ARRIVALS = Choice(arrivals=True)


@dataclass(frozen=True)
class Window:
    """A window of a mirrored run. made: the cut; sentences: what users should know about it."""

    made: Made
    until_ms: int
    sentences: tuple[str, ...]

    @property
    def from_ms(self) -> int:
        """Beginning, in ms of the log."""
        return self.made.cut.at_ms

    @property
    def clusters(self) -> list[tuple[int, Cluster]]:
        """(start in ms, cluster) of each time between two changes of a node: the shadows have that of the beginning."""
        nodes = {node.index: node for node in self.made.moment.mirror.nodes.values()}
        begin = self.made.cluster.servers
        newest = tuple(replace(server, capacity=capacity_of(nodes[i].fact)) for i, server in enumerate(begin))
        resizes = [Resize(until_ms, index, was) for index, node in nodes.items() for until_ms, was in node.was]
        return clusters_of(replace(self.made.cluster, servers=newest), resizes)


def window_of(
    connection: Connection, length_ms: int, until_ms: int | None = None, run: Run | None = None, *,
    most_jobs: int | None = None, most_slots: int | None = None, least_slot_ms: int = 1_000, every: bool = False,
) -> Window:  # fmt: skip
    """The window of that length that ends at until_ms (None: the newest moment); Refused where there is none.

    run: a mirrored run of the connection (None: the newest). most_jobs, most_slots: MAX_JOBS, MAX_SLOTS if None.
    least_slot_ms: slots are not shorter. every: also the jobs without GPUs of a cluster with GPUs.
    """
    run, until_ms, from_ms = bounds(connection, length_ms, until_ms, run)
    most_jobs = most_jobs or MAX_JOBS
    sentences = []
    if until_ms - from_ms < length_ms:
        sentences.append(
            f"The window is {duration(until_ms - from_ms)} long, not {duration(length_ms)}: "
            f"run {run.pk} shows the cluster from {run.moment(from_ms)} on."
        )
    asked_ms = from_ms
    while True:
        found = moment_of(run, from_ms)
        parts, left_out = _parts(found, until_ms, every)
        if len(parts) <= most_jobs:
            break
        open_then = sum(part.arrival_ms == from_ms for part in parts)
        if open_then > most_jobs:
            raise Refused(
                f"{open_then:,} jobs are open at {run.moment(from_ms)}; a set of shadows takes at most "
                f"{most_jobs:,} jobs"
            )
        from_ms += (until_ms - from_ms + 1) // 2
    if from_ms > asked_ms:
        sentences.append(
            f"The window is {duration(until_ms - from_ms)} long, so that it has at most {most_jobs:,} jobs."
        )
    if not parts:
        raise Refused(
            f"no job ran, waited or arrived between {run.moment(from_ms)} and {run.moment(until_ms)}; "
            "choose a longer window"
        )
    servers = servers_in(found.mirror, from_ms, until_ms)
    slot_ms = slot_for(parts, until_ms, most_slots or MAX_SLOTS, least_slot_ms)
    cluster = Cluster(name=run.scenario.cluster.name, slot_ms=slot_ms, servers=tuple(servers))
    cut = Cut(from_ms, servers, parts, left_out)
    made = Made(found, cut, ARRIVALS, cluster, job_table(parts, slot_ms))
    sentences.append(slot_sentence(slot_ms))
    nodes = found.mirror.nodes.values()
    resized = sum(any(from_ms < at_ms < until_ms for at_ms, _ in node.was) for node in nodes)
    if resized:
        sentences.append(
            f"{counted(resized, 'node')} changed capacity in the window: a shadow has the capacity of its beginning."
        )
    unsure = sum(part.origin == PREDICTED for part in parts)
    if unsure:
        sentences.append(
            f"{counted(unsure, 'job')} had not ended by {run.moment(until_ms)}: they have the run times of similar "
            "jobs, or their time limits, and their waits and completions are not compared."
        )
    return Window(made, until_ms, tuple(sentences))


def bounds(
    connection: Connection, length_ms: int, until_ms: int | None, run: Run | None = None
) -> tuple[Run, int, int]:
    """(run, end, beginning) of a window in ms of the log, within what the run shows; Refused where that is nothing."""
    run = run or connection.run
    if run is None:
        raise Refused(f"cluster {connection.name} has not been polled yet; wait for the first poll of the follower")
    reached, first_ms = reached_ms(run), stored.first_ms(run)
    until_ms = reached if until_ms is None else until_ms
    if until_ms > reached:
        raise Refused(
            f"run {run.pk} has reached {run.moment(reached)}, not {run.moment(until_ms)}; choose an earlier end"
        )
    if until_ms <= first_ms:
        raise Refused(
            f"run {run.pk} shows cluster {connection.name} from {run.moment(first_ms)} on, so no window can end at "
            f"{run.moment(until_ms)}; choose a later end"
        )
    return run, until_ms, max(first_ms, until_ms - length_ms)


def slot_for(parts: Sequence[Part], until_ms: int, most_slots: int = MAX_SLOTS, least_ms: int = 1_000) -> int:
    """The shortest slot from least_ms on with which the whole axis has at most most_slots: seconds for short jobs."""
    last_ms = until_ms + max((part.run_ms for part in parts), default=0)
    slots = [slot_ms for slot_ms in SLOTS_MS if slot_ms >= least_ms]
    return next((slot_ms for slot_ms in slots if last_ms <= slot_ms * most_slots), slots[-1])


def servers_in(mirror: Mirror, from_ms: int, until_ms: int) -> list[Server]:
    """All nodes that the run knows, each away when it was unavailable; Refused without an available one.

    One that is away at the end of the window stays away. Their capacities are those of the beginning.
    """
    busy: dict[str, list[tuple[int, int]]] = {}
    for known in mirror.jobs:
        for attempt in known.attempts:
            end = until_ms if attempt.ended_ms is None else attempt.ended_ms - mirror.epoch_ms
            for share in attempt.shares:
                busy.setdefault(share.node, []).append((attempt.started_ms - mirror.epoch_ms, end))
    servers = []
    for node in sorted(mirror.nodes.values(), key=lambda node: node.index):
        seen = _outages(node.away, sorted(busy.get(node.fact.name, ())), until_ms)
        away = tuple((max(begin, from_ms), MAX_INT if end > until_ms else end) for begin, end in seen if end > from_ms)
        server = server_of(node.fact, node.site or mirror.sites.site(node.fact), away)
        servers.append(replace(server, capacity=node.capacity_at(from_ms)))
    if not servers:
        raise Refused("the cluster has reported no nodes; check that its account may see them")
    if all(server.away and server.away[0] == (from_ms, MAX_INT) for server in servers):
        began, ended = (moment_utc(mirror.epoch_ms + ms) for ms in (from_ms, until_ms))
        raise Refused(
            f"no node was available between {began} and {ended} "
            f"({counted(len(servers), 'node')} down or drained); choose a window in which one was"
        )
    return servers


def _outages(
    away: tuple[tuple[int, int], ...], busy: list[tuple[int, int]], until_ms: int
) -> Iterator[tuple[int, int]]:
    """The outages without the work that began in them: it shows that a poll reported the return of the node late.

    Work that began before an outage shows nothing: a job may stay on a node that is down until the cluster ends it.
    """
    for begin, end in away:
        began = [(start_ms, end_ms) for start_ms, end_ms in busy if begin < start_ms < end]
        yield from idle_only(((begin, end),), began, until_ms)


def _parts(of: Moment, until_ms: int, every: bool) -> tuple[list[Part], Counter[str]]:
    """The jobs of the window with their work; one whose end is not known by its end runs as long as predicted."""
    mirror = of.mirror
    parts, left_out = parts_of(mirror, of.at_ms, of.held, ARRIVALS, every=every)
    later = sum(part.arrival_ms >= until_ms for part in parts)
    if later:
        left_out["arrives_later"] += later
    parts = [part for part in parts if part.arrival_ms < until_ms]
    if any(not _ended_by(part.known, mirror, until_ms) for part in parts):
        predictor = learned(mirror, until_ms)
        parts = [
            part if _ended_by(part.known, mirror, until_ms) else _predicted(part, mirror, predictor, until_ms)
            for part in parts
        ]
    return parts, left_out


def _ended_by(known: KnownJob, mirror: Mirror, until_ms: int) -> bool:
    end = end_ms(known, mirror)
    return end is not None and end <= until_ms


def learned(mirror: Mirror, until_ms: int) -> Predictor:
    """A predictor that has seen every job that ended by then, in the order of the ends."""
    predictor = SimilarMedian()
    ended = [(end, known) for known in mirror.jobs if (end := end_ms(known, mirror)) is not None and end <= until_ms]
    for _, known in sorted(ended, key=lambda each: (each[0], each[1].index)):
        run_ms = run_time_ms(known)
        if run_ms:
            predictor.observe(similar(known), run_ms)
    return predictor


def run_time_ms(known: KnownJob) -> int:
    """Run time of the last attempt of an ended job; 0 without one."""
    last = known.attempts[-1] if known.attempts and known.fact.state == ENDED else None
    return 0 if last is None or last.ended_ms is None else last.ended_ms - last.started_ms


def similar(known: KnownJob) -> Job:
    """The fields of a job by which predictors find similar ones."""
    fact = known.fact
    gpus, cpus, _ = amounts_of(fact, sizing(fact, known.attempts))
    return Job(
        id="-", arrival_ms=0, user=fact.user or None, requested_workers=max(1, gpus or cpus),
        limit_ms=fact.limit_ms or None,
    )  # fmt: skip


def _predicted(part: Part, mirror: Mirror, predictor: Predictor, until_ms: int) -> Part:
    """The job with the work that it has left by prediction, at least what it has run in the window and a minute."""
    predicted = predictor.predict(similar(part.known)) or part.known.fact.limit_ms or ARRIVALS.assumed_ms
    before_ms = part.arrival_ms - part.since_ms if part.state == RUNNING else 0
    ran_ms = 0
    for attempt in part.known.attempts:
        end = until_ms if attempt.ended_ms is None else min(until_ms, attempt.ended_ms - mirror.epoch_ms)
        own_ms = max(0, end - max(part.arrival_ms, attempt.started_ms - mirror.epoch_ms))
        ran_ms += as_long(own_ms, part.known, attempt, part.gpus, part.cpus)
    least = ran_ms + MIN_WORK_MS if ran_ms or before_ms else 1
    return part._replace(run_ms=max(least, predicted - before_ms), origin=PREDICTED)
