"""A cut of a mirrored cluster at a moment: which jobs are open then, and how much work each has left. It is pure.

Every job of the mirror is either in the cut or counted with the reason why it is not. What a cluster never states is
believed, and each job states the origin of its duration: actual, by its time limit, or assumed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.limits import MAX_INT
from scheduling.model.provenance import ACTUAL, ASSUMED, LIMIT
from scheduling.model.values import ModelError, Server
from scheduling.reporting.quantities import counted
from twin.connectors.facts import ENDED, HELD, Attempt, Share
from twin.mirror.as_values import amounts_of, sizing
from twin.mirror.differ import Mirror
from twin.mirror.jobs.known import KnownJob

DURATIONS = (ACTUAL, LIMIT)
RUNNING, WAITING, ARRIVING = range(3)  # in this order jobs arrive in the cut
MIN_WORK_MS = 60_000  # work left of a job that has used up its time limit and still runs
HOUR_MS = 3_600_000
MAX_WORK_MS = MAX_INT // 2  # GPUs, or CPUs, x time of a job, with room for what a slot adds
NUMBER = re.compile(r"\d+", re.ASCII)
LEFT_OUT = {  # reasons why jobs of a mirrored run are not in a cut; each follows a number of jobs
    "ended": "ended before",
    "arrives_later": "arrived later",
    "held": "held",
    "never_ran": "later ended without having run, so that their duration is unknown",
    "no_gpu": "without GPUs, while other jobs have GPUs",
    "too_large": "with more GPUs or CPUs × time than can be simulated",
}


@dataclass(frozen=True, slots=True)
class Choice(Parameters):
    """Assumptions of a cut about durations, and whether it includes later jobs."""

    durations: str = parameter(
        ACTUAL,
        "duration of a job: actual where its end is known, else its time limit; or always its limit",
        choices=DURATIONS,
    )
    assumed_ms: int = parameter(
        HOUR_MS,
        "remaining work of a job that has neither a known end nor a time limit",
        low=1_000,
        high=MAX_INT,
        unit="ms",
    )
    arrivals: bool = parameter(False, "include the jobs that arrived later, at their own times")


class Held(NamedTuple):
    """Amounts of a job at a moment, and the shares in which it holds them."""

    gpus: int
    cpus: int
    memory_mb: int
    shares: tuple[Share, ...]


class Part(NamedTuple):
    """A job of a cut. run_ms: work left from its arrival in the cut, with the amounts that it holds or asks for."""

    known: KnownJob
    state: int  # RUNNING | WAITING | ARRIVING
    since_ms: int  # start of a running job, else its arrival, in ms of the log
    arrival_ms: int  # in the cut
    run_ms: int
    origin: str  # of run_ms: ACTUAL | LIMIT | ASSUMED | PREDICTED (shadows)
    gpus: int
    cpus: int
    memory_mb: int
    shares: tuple[Share, ...] = ()  # that it holds, or held in the attempt of these amounts


@dataclass(frozen=True)
class Cut:
    """Servers and jobs at a moment. left_out: number of jobs of the mirror that are not in it, by reason (LEFT_OUT)."""

    at_ms: int
    servers: Sequence[Server]
    parts: Sequence[Part]
    left_out: Counter[str] = field(default_factory=Counter)

    def count(self, state: int) -> int:
        """Number of jobs that run, wait or arrive."""
        return sum(part.state == state for part in self.parts)


def cut(mirror: Mirror, at_ms: int, servers: Sequence[Server], held: Container[int], choice: Choice) -> Cut:
    """The cluster at at_ms of the log. servers: as the log has them then; held: jobs that somebody holds then.

    Running jobs come first, by their start, then those that wait, by the cluster's priority, then their arrival, then
    those that arrive later.
    ModelError where no server is available.
    """
    there = _then(servers, at_ms)
    return Cut(at_ms, there, *parts_of(mirror, at_ms, held, choice))


def parts_of(
    mirror: Mirror, at_ms: int, held: Container[int], choice: Choice, *, every: bool = False
) -> tuple[list[Part], Counter[str]]:
    """(jobs of a cut, in its order; number of the others by reason). every: also jobs without GPUs beside others."""
    with_gpus = not every and any(amounts_of(known.fact, known.attempts)[0] for known in mirror.jobs)
    parts: list[Part] = []
    left_out: Counter[str] = Counter()
    for known in mirror.jobs:
        found = _part(known, mirror, at_ms, held, choice, with_gpus)
        if isinstance(found, Part):
            parts.append(found)
        else:
            left_out[found] += 1
    parts.sort(key=turn)
    return parts, left_out


def turn(part: Part) -> tuple[object, ...]:
    """Place in the cut. Clusters state times in seconds: jobs of one second come by the numbers in their keys."""
    priority = part.known.fact.priority or 0 if part.state == WAITING else 0
    numbers = tuple(int(word) for word in NUMBER.findall(part.known.fact.key))
    return part.arrival_ms, part.state, -priority, part.since_ms, numbers, part.known.index


def started_before(of: Cut, slot_ms: int) -> Cut:
    """The cut in which running jobs arrive at the last start of a slot before it, with as much more work.

    Schedulers start jobs at the start of a slot, so running jobs are placed before any waiting job can be.
    """
    arrival_ms = slot_before(of.at_ms, slot_ms)
    earlier_ms = of.at_ms - arrival_ms
    parts = [
        part._replace(arrival_ms=arrival_ms, run_ms=part.run_ms + earlier_ms) if part.state == RUNNING else part
        for part in of.parts
    ]
    return replace(of, parts=parts)


def slot_before(at_ms: int, slot_ms: int) -> int:
    """The last start of a slot before at_ms; 0 at 0."""
    return max(0, (at_ms - 1) // slot_ms * slot_ms)


def one(mirror: Mirror, known: KnownJob, at_ms: int, choice: Choice) -> Part:
    """A job of the mirror as if it were submitted at at_ms, with its whole work."""
    held = _held(known, sizing(known.fact, known.attempts))
    run_ms, origin = _duration(known, mirror, -mirror.epoch_ms, choice, held)
    return Part(known, WAITING, at_ms, at_ms, run_ms or choice.assumed_ms, origin, *held)


def _then(servers: Sequence[Server], at_ms: int) -> list[Server]:
    """The servers; one that is not available at at_ms is gone for good: nobody knows then when it returns."""
    there = [replace(server, away=((0, MAX_INT),) if server.is_away(at_ms) else ()) for server in servers]
    if all(server.away for server in there):
        shown = f"{counted(len(there), 'node')} down or drained" if there else "the cluster has reported none"
        raise ModelError(f"no node is available at this time ({shown}); choose a time at which one is")
    return there


def _part(
    known: KnownJob, mirror: Mirror, at_ms: int, held: Container[int], choice: Choice, with_gpus: bool
) -> Part | str:
    """The job in the cut, or the reason why it is not in it."""
    arrived_ms, over_ms = arrival_ms(known, mirror), end_ms(known, mirror)
    later = arrived_ms > at_ms
    if over_ms is not None and over_ms <= at_ms:
        return "ended"
    if later and not choice.arrivals:
        return "arrives_later"
    running = next((attempt for attempt in known.attempts if _covers(attempt, mirror, at_ms)), None)
    held_then = _held(known, _attempt_of(known, mirror, at_ms, running))
    if with_gpus and not held_then.gpus:
        return "no_gpu"
    if running is None and (_held_ever(known) if later else known.index in held):
        return "held"
    run_ms, origin = _duration(known, mirror, at_ms, choice, held_then, running)
    if not run_ms:
        return "never_ran"
    if (held_then.gpus or held_then.cpus) * run_ms > MAX_WORK_MS:
        return "too_large"
    if later:
        return Part(known, ARRIVING, arrived_ms, arrived_ms, run_ms, origin, *held_then)
    if running is None:
        return Part(known, WAITING, arrived_ms, at_ms, run_ms, origin, *held_then)
    return Part(known, RUNNING, max(0, running.started_ms - mirror.epoch_ms), at_ms, run_ms, origin, *held_then)


def _attempt_of(known: KnownJob, mirror: Mirror, at_ms: int, running: Attempt | None) -> tuple[Attempt, ...]:
    """The attempt whose amounts count: the one in progress; of a job that waits the next one, if it has one."""
    if running is not None:
        return (running,)
    later = [attempt for attempt in known.attempts if attempt.started_ms > mirror.epoch_ms + at_ms]
    return tuple(later[:1]) or sizing(known.fact, known.attempts)


def _held(known: KnownJob, attempt: tuple[Attempt, ...]) -> Held:
    """Amounts and shares of the job in this attempt; without one, what it asks for."""
    return Held(*amounts_of(known.fact, attempt), attempt[-1].shares if attempt else ())


def _held_ever(known: KnownJob) -> bool:
    """True if a job that arrives later is held, and has never run: nobody knows when it is released."""
    return known.fact.state == HELD and not known.attempts


def _duration(
    known: KnownJob, mirror: Mirror, at_ms: int, choice: Choice, held: Held, running: Attempt | None = None
) -> tuple[int, str]:
    """(work left after at_ms in ms with what it holds, its origin); 0 where it ended without running after at_ms."""
    ran_ms = sum(
        as_long(_ran_ms(attempt, mirror, at_ms), known, attempt, held.gpus, held.cpus) for attempt in known.attempts
    )
    actual = choice.durations == ACTUAL
    if actual and known.fact.state == ENDED:
        return ran_ms, ACTUAL
    limit_ms = known.fact.limit_ms
    if limit_ms is None:
        left_ms, origin = choice.assumed_ms, ASSUMED
    else:
        elapsed_ms = at_ms - (running.started_ms - mirror.epoch_ms) if running is not None else 0
        left_ms, origin = max(limit_ms - elapsed_ms, MIN_WORK_MS), LIMIT
    return max(left_ms, ran_ms) if actual else left_ms, origin  # it has run that long already


def as_long(ran_ms: int, known: KnownJob, attempt: Attempt, gpus: int, cpus: int) -> int:
    """Time that the work of a part of an attempt takes with other amounts: in proportion to its GPUs, or CPUs."""
    own_gpus, own_cpus, _ = amounts_of(known.fact, (attempt,))
    own, other = (own_gpus, gpus) if own_gpus and gpus else (own_cpus, cpus)
    return -(-ran_ms * own // other) if own and other else ran_ms


def arrival_ms(known: KnownJob, mirror: Mirror) -> int:
    """Arrival of the job, in ms of the log: that of one with a new submit time after its first start is that start."""
    first = min((attempt.started_ms for attempt in known.attempts), default=known.fact.submitted_ms)
    return max(0, min(known.fact.submitted_ms, first) - mirror.epoch_ms)


def end_ms(known: KnownJob, mirror: Mirror) -> int | None:
    """End of the job, in ms of the log; None while it is open."""
    if known.fact.state != ENDED:
        return None
    return (mirror.at_ms if known.ended_ms is None else known.ended_ms) - mirror.epoch_ms


def _covers(attempt: Attempt, mirror: Mirror, at_ms: int) -> bool:
    """True if the attempt is in progress at at_ms."""
    now = mirror.epoch_ms + at_ms
    return attempt.started_ms <= now and (attempt.ended_ms is None or attempt.ended_ms > now)


def _ran_ms(attempt: Attempt, mirror: Mirror, at_ms: int) -> int:
    """Duration in ms of the part of the attempt after at_ms, as far as it is known."""
    now = mirror.epoch_ms + at_ms
    end = mirror.at_ms if attempt.ended_ms is None else attempt.ended_ms
    if attempt.started_ms >= now:  # clusters report whole seconds: a shorter attempt lasts 1 ms, like its bar
        return max(1, end - attempt.started_ms)
    return max(0, end - now)
