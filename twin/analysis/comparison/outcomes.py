"""Outcome of each job of a run up to an instant, as arrays by job index.

The definitions are those of scheduling/reporting/metric_table.py; service is the time in which the job had at least one
worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from scheduling.model.bars import END, JOB, NONE, ROLE, SERVER, START
from scheduling.model.limits import MAX_INT
from scheduling.model.spans import reached, suspensions, union
from scheduling.model.values import SITES, Cluster
from twin.analysis.comparison.decisions import (
    ADMITTED,
    PAUSED,
    PREEMPTED,
    REJECTED,
    STARTED,
    Decisions,
    mixed,
    server_numbers,
)
from twin.eventlog import job_states
from twin.eventlog.fold import (
    ARRIVED,
    AT,
    COMPLETED_AT,
    JOB_FIELDS,
    JOB_OF,
    NEVER,
    UTILITY,
    VERDICT_OF,
    WORKER,
    RunState,
    valid_at,
)
from twin.eventlog.memberships import intervals

FOREVER = 2**62  # an instant after every event
# the last is where job_states.ABSENT and job_states.UNSEEN point to
STATES = (*job_states.STATES, "not arrived")
EDGE, CLOUD = 1, 2  # bits of `sites`


@dataclass(frozen=True)
class Outcomes:
    """[job] each; times in ms, NEVER where it has not happened by the instant."""

    arrived_ms: np.ndarray
    start_ms: np.ndarray  # first worker bar, past or planned
    finish_ms: np.ndarray  # completion, or the planned one
    completed_ms: np.ndarray
    utility: np.ndarray  # 0 until completed
    service_ms: np.ndarray
    suspensions: np.ndarray
    preemptions: np.ndarray
    servers: np.ndarray  # uint64: a number of the set of servers of its workers, 0 for none
    sites: np.ndarray  # EDGE | CLOUD
    states: np.ndarray  # position in STATES
    admitted: np.ndarray  # whether its first decision was to admit or start it
    rejected: np.ndarray  # whether a decision was to reject it
    began_ms: np.ndarray  # first worker bar that has begun by the instant
    stopped_ms: np.ndarray  # end of the last worker bar of a job that was rejected or is unfinished

    @property
    def jct_ms(self) -> np.ndarray:
        """NaN before completion."""
        return np.where(self.completed_ms >= 0, self.completed_ms - self.arrived_ms, np.nan)

    @property
    def delay_factor(self) -> np.ndarray:
        """NaN before completion."""
        return np.where(self.service_ms > 0, self.jct_ms / np.maximum(self.service_ms, 1), np.nan)

    @property
    def wait_ms(self) -> np.ndarray:
        """NaN for a job that has not started, though a start may be planned."""
        return np.where(self.began_ms >= 0, self.began_ms - self.arrived_ms, np.nan)


def outcomes_of(
    state: RunState, decisions: Decisions, cluster: Cluster, jobs: int, until_ms: int = FOREVER
) -> Outcomes:
    """Outcomes from the newest state, whose bars have the times of their decisions, and from the decisions."""
    rows = np.full((jobs, len(JOB_FIELDS)), float(NEVER))
    rows[:, UTILITY] = 0
    rows[: state.jobs.length] = state.jobs.rows
    arrived, completed, utility = rows[:, ARRIVED], rows[:, COMPLETED_AT], rows[:, UTILITY]
    arrived, completed = (np.where(times <= until_ms, times, NEVER).astype(np.int64) for times in (arrived, completed))
    verdicts = decisions.verdicts[decisions.verdicts[:, AT] <= until_ms]
    first = np.full(jobs, NEVER)
    first[verdicts[::-1, JOB_OF]] = verdicts[::-1, VERDICT_OF]  # the earliest is written last
    rejected = verdicts[verdicts[:, VERDICT_OF] == REJECTED, JOB_OF]
    workers = believed(state, until_ms)
    workers = workers[workers[:, ROLE] == WORKER]
    start, finish = _spans(workers, completed, until_ms, jobs)
    states = np.full(jobs, job_states.ABSENT)
    states[: state.jobs.length] = job_states.job_states(state, until_ms)
    servers, sites = _places(np.concatenate((workers[:, [JOB, SERVER]], grouped(state, until_ms))), cluster, jobs)
    done = workers[workers[:, START] < until_ms].copy()
    done[:, END] = np.minimum(done[:, END], until_ms)
    return Outcomes(
        arrived, start, finish, completed, np.where(completed >= 0, utility, 0.0), _service(done, jobs),
        suspensions(done, jobs), preemptions(verdicts, workers, jobs), servers, sites, states,
        np.isin(first, (ADMITTED, STARTED)), np.bincount(rejected, minlength=jobs) > 0,
        np.where((start >= 0) & (start <= until_ms), start, NEVER),
        np.where(np.isin(states, (job_states.REJECTED, job_states.UNFINISHED)), _ends(done, jobs), NEVER),
    )  # fmt: skip


def believed(state: RunState, until_ms: int) -> np.ndarray:
    """The bars that were valid at the instant, planned ones included: rows of BAR_FIELDS."""
    bars = state.bars.rows
    return bars[valid_at(bars, until_ms)]


def grouped(state: RunState, until_ms: int) -> np.ndarray:
    """[n, (job, server)] of jobs that share the machines of a group: their bars name only the group."""
    machines: dict[int, tuple[list[int], set[int]]] = {}  # group -> its newest servers, and the jobs on them
    found: list[tuple[list[int], set[int]]] = []
    for _, _, data in intervals(state, until_ms):
        known = machines.get(data["group"])
        if known is None or known[0] != data["servers"]:
            known = machines[data["group"]] = (data["servers"], set())
            found.append(known)
        known[1].update(data["jobs"])
    pairs = [np.array(list(product(sorted(held), servers)), dtype=np.int64).reshape(-1, 2) for servers, held in found]
    return np.concatenate([np.empty((0, 2), dtype=np.int64), *pairs])


def preemptions(verdicts: np.ndarray, workers: np.ndarray, jobs: int) -> np.ndarray:
    """[job] times at which a decision took its workers; a job that had none was not running."""
    stopped = np.unique(verdicts[np.isin(verdicts[:, VERDICT_OF], (PREEMPTED, PAUSED))][:, [JOB_OF, AT]], axis=0)
    if not len(stopped) or not len(workers):
        return np.zeros(jobs, dtype=np.int64)
    # a decision is an interval without length; it comes before the bars that start at its time
    job, start, end = (
        np.concatenate(pair)
        for pair in zip((*stopped.T, np.full(len(stopped), NEVER)), workers[:, [JOB, START, END]].T, strict=True)
    )
    order, latest, same = reached(job, start, end)
    took = same & (order < len(stopped)) & (latest >= start[order])
    return np.bincount(job[order][took], minlength=jobs)


def _service(workers: np.ndarray, jobs: int) -> np.ndarray:
    """[job] ms in which at least one worker bar lies."""
    spans = union(workers[:, JOB], workers[:, START], workers[:, END])
    service = np.zeros(jobs, dtype=np.int64)
    np.add.at(service, spans.job, spans.end_ms - spans.start_ms)
    return service


def _ends(done: np.ndarray, jobs: int) -> np.ndarray:
    """[job] end of the last worker bar; NEVER without one, or if its end is not known."""
    last = np.full(jobs, NEVER)
    np.maximum.at(last, done[:, JOB], done[:, END])
    return np.where(last < MAX_INT, last, NEVER)


def _spans(workers: np.ndarray, completed: np.ndarray, until_ms: int, jobs: int) -> tuple[np.ndarray, np.ndarray]:
    """[job] start and finish."""
    start, last = np.full(jobs, FOREVER), np.full(jobs, NEVER)
    np.minimum.at(start, workers[:, JOB], workers[:, START])
    np.maximum.at(last, workers[:, JOB], workers[:, END])
    planned = (last > until_ms) & (last < MAX_INT)  # a real cluster has jobs whose end nobody knows yet
    finish = np.where(completed >= 0, completed, np.where(planned, last, NEVER))
    return np.where(start == FOREVER, NEVER, start), finish


def _places(placed: np.ndarray, cluster: Cluster, jobs: int) -> tuple[np.ndarray, np.ndarray]:
    """[job] the number of its set of servers, and its sites. placed: [n, (job, server)]."""
    job, server = placed.T
    job, server = job[server != NONE], server[server != NONE]
    width = len(cluster.servers) + 2
    pairs = np.unique(job * width + server % width)  # CLOUD and NONE count from the end
    job, server = np.divmod(pairs, width)
    servers = np.zeros(jobs, dtype=np.uint64)
    np.add.at(servers, job, mixed(server_numbers(cluster))[server])
    site = np.array([EDGE if s.site == SITES[0] else CLOUD for s in cluster.servers] + [CLOUD, 0], dtype=np.int64)
    sites = np.zeros(jobs, dtype=np.int64)
    np.bitwise_or.at(sites, job, site[server])
    return servers, sites
