"""Replay of a run's event log for the verifier: arrivals, plans and outcomes of jobs.

The log is the source of truth: schedule.csv, decisions.jsonl and summary.json have to follow from it. Here it is
checked against the inputs and for consistency. It is well formed already (schema.py); jobs and servers are named by
their index.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START, WORKER_SLOT, Role
from scheduling.model.values import RESOURCES
from scheduling.reporting.reasons import sentence

ROLES = ("worker", "ps", "transfer", "suspended")
NOWHERE, CLOUD = -1, -2  # servers of a bar
FOREVER = 1 << 62  # ms, after the end of every run
NOTHING = (0,) * len(RESOURCES)  # capacity
Row = Mapping[str, Any]
Plan = list[list[int]]  # bars: job, role, server, start_ms, end_ms, count, worker, chunk, group
Held = dict[tuple[Any, ...], dict[int, int]]  # key of a bar -> {ms: change of its count}


@dataclass
class Outcome:
    """The outcome of a log, by index of the job."""

    bars: dict[int, Plan] = field(
        default_factory=dict
    )  # realized bars: each plan replaces the future of the one before
    completed: dict[int, tuple[int, float]] = field(default_factory=dict)  # when, and its utility
    decisions: list[Row] = field(default_factory=list)  # `decided` events
    first: dict[int, str] = field(default_factory=dict)  # kind of the first decision
    started: Row = field(default_factory=dict)  # data of run_started
    # earlier capacities of a server by its index, each with its end: none before it was added
    was: dict[int, list[tuple[int, Sequence[int]]]] = field(default_factory=dict)


def replay(
    cluster: Row,
    jobs: Sequence[Row],
    log: Iterable[Row],
    problems: list[str],
    edited: Sequence[int] = (),
    begins: Row | None = None,
) -> Outcome:
    """Replay of the log; impossible events are problems.

    edited: when edits take effect; cluster and jobs are then those of the last phase. begins: {jobs, servers} of the
    first one.
    """
    outcome = Outcome()
    player = _Player(cluster, jobs, outcome, problems)
    log = list(log)
    added = Counter(event["kind"] for event in log)
    known = {"jobs": len(jobs) - added["job_added"], "servers": len(player.names) - added["server_added"]}
    player.edits, player.begins = list(edited), begins or known
    player.known = dict(player.begins)
    for event in log:
        if player.unfinished and event["kind"] != "run_finished" and event["data"].get("kind") != "unfinished":
            problems.append(f"events.jsonl: line {event['seq']}: follows events that end the run with unfinished jobs")
            break
        getattr(player, event["kind"])(f"events.jsonl: line {event['seq']}", event["at_ms"], event["data"], event)
    player.end()
    return outcome


class _Player:
    """Replay with one method per event type."""

    edits: list[int]  # times of future edits
    begins: Row
    known: dict[str, int]  # jobs and servers so far: those of the beginning, and what was added

    def __init__(self, cluster: Row, jobs: Sequence[Row], outcome: Outcome, problems: list[str]) -> None:
        self.cluster, self.jobs, self.outcome, self.problems = cluster, jobs, outcome, problems
        self.names = [server["name"] for server in cluster["servers"]]
        self.arrived = 0  # jobs[:arrived] have arrived
        self.rejected: set[int] = set()
        self.unfinished: set[int] = set()
        self.finishes: dict[int, int] = {}  # when a job ends by its newest plan
        self.stated: dict[int, int] = {}  # when a real cluster ended a job, which may be after its last bar
        self.gangs: dict[int, tuple[int, int]] = {}  # workers and parameter servers that a reason states
        self.on: dict[tuple[int, int, int], Plan] = {}  # bars of the newest plan of each worker
        self.starts: dict[int, int] = {}  # when a job begins by its newest plan

    def run_started(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        self.outcome.started = data
        expected = {
            **self.begins, "slot_ms": self.cluster["slot_ms"], "horizon_slots": self.cluster["horizon_slots"],
        }  # fmt: skip
        self.problems += [
            f"{at}: {name} is {data[name]!r}, but the inputs have {value!r}"
            for name, value in expected.items()
            if data[name] != value
        ]

    def job_arrived(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        job = data["job"]
        if job != self.arrived or job >= len(self.jobs):
            self.problems.append(
                f"{at}: job {job} arrives, but the next one of jobs.jsonl is {self.arrived:,} of {len(self.jobs):,}"
            )
            return
        self.arrived += 1
        if at_ms != self.jobs[job]["arrival_ms"]:
            self.problems.append(
                f"{at}: job {self.jobs[job]['id']} arrives at {at_ms} ms, but in jobs.jsonl at "
                f"{self.jobs[job]['arrival_ms']} ms"
            )

    def decided(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        job, kind, code, values = data["job"], data["kind"], data["code"], data["values"]
        if not self._known(at, job):
            return
        self.outcome.decisions.append(event)
        self.outcome.first.setdefault(job, kind)
        if job in self.rejected or job in self.outcome.completed or job in self.unfinished:
            self.problems.append(f"{at}: job {self.jobs[job]['id']} is {kind} after its end")
        if kind == "rejected":
            self.rejected.add(job)
        elif kind == "unfinished":
            self.unfinished.add(job)
        elif kind == "ended":
            self.stated[job] = at_ms
        if (broken := unclear(code, values, self.names)) is not None:
            self.problems.append(f"{at}: {broken}")
        elif code in ("in_order", "out_of_order"):
            self.gangs[job] = (values["workers"], values["ps"])
            if values["waited_ms"] != at_ms - self.jobs[job]["arrival_ms"]:
                self.problems.append(
                    f"{at}: states that job {self.jobs[job]['id']} waited for {values['waited_ms']!r} ms"
                )

    def plan_changed(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        of_jobs = data["scope"] == "job"
        if any(isinstance(key, int) != of_jobs for key in data["keys"]):
            self.problems.append(
                f"{at}: keys of scope {data['scope']} must be {'jobs' if of_jobs else '[role, server, worker] each'}"
            )
        elif of_jobs:
            self._plan_of_jobs(at, at_ms, data)
        else:
            self._plan_of_workers(at, at_ms, data)

    def _plan_of_jobs(self, at: str, at_ms: int, data: Row) -> None:
        if [job for job, _, _ in data["jobs"]] != data["keys"] or not {bar[JOB] for bar in data["bars"]} <= set(
            data["keys"]
        ):
            self.problems.append(
                f"{at}: a plan of jobs must have the start and end of each of its jobs, and only their bars"
            )
            return
        for job, start_ms, finish_ms in data["jobs"]:
            bars = [bar for bar in data["bars"] if bar[JOB] == job]
            if not self._known(at, job) or not self._whole(at, at_ms, job, bars):
                return
            self._ends(at, at_ms, job, finish_ms, bars)
            gang = tuple(
                sum(bar[COUNT] for bar in bars if bar[ROLE] == role and bar[START] == at_ms) for role in (0, 1)
            )
            if bars and self.gangs.pop(job, gang) != gang:
                id_ = self.jobs[job]["id"]
                self.problems.append(
                    f"{at}: job {id_} starts with {gang[0]} workers and {gang[1]} parameter servers, not as decided"
                )
            past = [cut(bar, end_ms=at_ms) for bar in self.outcome.bars.get(job, ()) if bar[START] < at_ms]
            self.outcome.bars[job] = past + [list(bar) for bar in bars]
            self.starts[job] = start_ms

    def _whole(self, at: str, at_ms: int, job: int, bars: Plan) -> bool:
        """True if the plan's bars are bars of the job, and the job has not ended."""
        id_ = self.jobs[job]["id"]
        if job in self.rejected or job in self.outcome.completed:
            self.problems.append(f"{at}: job {id_} is planned after its end")
        for number, bar in enumerate(bars):
            if (broken := self._broken(job, bar, at_ms)) is not None:
                self.problems.append(f"{at}: bar {number} of job {id_} must {broken}, got {bar}")
                return False
        return True

    def _ends(self, at: str, at_ms: int, job: int, finish_ms: int, bars: Plan) -> None:
        if finish_ms < 0:
            self.finishes.pop(job, None)
            return
        self.finishes[job] = finish_ms
        ends = [bar[END] for bar in bars if bar[ROLE] in (Role.WORKER, Role.SUSPENDED)]  # it may end while suspended
        last_ms = max((bar[END] for bar in bars), default=0)
        if finish_ms < at_ms or max(ends, default=finish_ms) != finish_ms or last_ms > finish_ms:
            self.problems.append(
                f"{at}: job {self.jobs[job]['id']} finishes at {finish_ms} ms, not when its last worker stops"
            )

    def _plan_of_workers(self, at: str, at_ms: int, data: Row) -> None:
        """Plan of workers; in the cloud, which has no fixed workers, the job replaces the worker."""
        named = {(role, server, place) for role, server, place in data["keys"]}
        for worker in named:
            self._over(self.on.pop(worker, []), at_ms)
            self.on[worker] = []
        for job, start_ms, finish_ms in data["jobs"]:
            if not self._known(at, job):
                return
            self.starts[job] = start_ms
            if finish_ms < 0:
                self.finishes.pop(job, None)
            elif finish_ms < at_ms:
                self.problems.append(
                    f"{at}: job {self.jobs[job]['id']} finishes at {finish_ms} ms, before it was planned"
                )
            else:
                self.finishes[job] = finish_ms
        for bar in data["bars"]:
            if not self._known(at, bar[JOB]) or not self._whole(at, at_ms, bar[JOB], [bar]):
                return
            worker = (int(bar[ROLE] == Role.PS), bar[SERVER], bar[JOB] if bar[SERVER] == CLOUD else bar[WORKER_SLOT])
            if worker not in named:
                id_ = self.jobs[bar[JOB]]["id"]
                self.problems.append(f"{at}: a bar of job {id_} is on a worker that the plan does not name: {bar}")
                return
            self.on[worker].append(list(bar))

    def _over(self, bars: Plan, at_ms: int | None = None) -> None:
        """End of these bars, at at_ms at the latest."""
        for bar in bars:
            if at_ms is None or bar[START] < at_ms:
                if at_ms is not None and bar[END] > at_ms:
                    bar[END] = at_ms
                self.outcome.bars.setdefault(bar[JOB], []).append(bar)

    def grouped(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """Empty: colocation/verifier.py checks groups."""

    def regrouped(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """Empty: colocation/verifier.py checks groups."""

    def job_completed(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        job = data["job"]
        if not self._known(at, job):
            return
        planned_ms = self.finishes.pop(job, None)
        if planned_ms is not None and planned_ms < at_ms == self.stated.get(job):
            planned_ms = at_ms
        if planned_ms != at_ms:
            self.problems.append(f"{at}: job {self.jobs[job]['id']} completes at {at_ms} ms, which was not planned")
        self.outcome.completed[job] = at_ms, data["utility"]

    def job_added(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        self._added(
            at, "jobs", data["job"], data["fields"].get("id"), [job["id"] for job in self.jobs[data["job"] :][:1]]
        )

    def server_added(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        self._added(at, "servers", data["server"], data["fields"].get("name"), self.names[data["server"] :][:1])
        self._resized(data["server"], at_ms, NOTHING)

    def _added(self, at: str, what: str, index: int, name: Any, expected: Sequence[str]) -> None:
        if index != self.known[what] or [name] != list(expected):
            self.problems.append(
                f"{at}: adds {what[:-1]} {index}, {name!r}, but the next one of the inputs is {self.known[what]}"
            )
        self.known[what] += 1

    def server_set(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        if data["server"] >= self.known["servers"]:
            self.problems.append(f"{at}: server {data['server']} of {self.known['servers']}")
        elif "was" in data:
            self._resized(data["server"], at_ms, data["was"])

    def _resized(self, server: int, at_ms: int, was: Sequence[int]) -> None:
        self.outcome.was.setdefault(server, []).append((at_ms, was))

    def server_changed(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        server, away = data["server"], data["away"]
        if server >= len(self.names):
            self.problems.append(f"{at}: server {server} of {len(self.names):,}")
            return
        begins, ends = ({interval[side] for interval in self.cluster["servers"][server]["away"]} for side in (0, 1))
        added = (at_ms, NOTHING) in self.outcome.was.get(server, ())  # it was not there until now
        if at_ms not in (begins if away else ends) and (away or not added):
            change = "leaves" if away else "returns"
            self.problems.append(f"{at}: server {self.names[server]} {change} at {at_ms} ms, but not in cluster.json")

    def edited(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """Edits: displaced jobs have to end by the following plans."""
        if not self.edits or self.edits.pop(0) != at_ms:
            self.problems.append(f"{at}: an edit takes effect at {at_ms} ms that is not in the inputs")

    def run_finished(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        pass

    def end(self) -> None:
        """Check of everything that must have happened by the end."""
        for bars in self.on.values():
            self._over(bars)
        self.problems += [f"events.jsonl: the edit at {at_ms} ms does not take effect" for at_ms in self.edits]
        for job, start_ms in self.starts.items():
            first = min(
                (bar[START] for bar in self.outcome.bars.get(job, ()) if bar[ROLE] == Role.WORKER), default=NOWHERE
            )
            if first != start_ms:
                self.problems.append(
                    f"events.jsonl: job {self.jobs[job]['id']} is decided to start at {start_ms} "
                    f"ms, but starts at {first} ms"
                )
        if self.arrived < len(self.jobs):
            self.problems.append(f"events.jsonl: {self.arrived:,} of {len(self.jobs):,} jobs arrive")
        for job, ms in sorted(self.finishes.items()):
            self.problems.append(
                f"events.jsonl: job {self.jobs[job]['id']} is planned to finish at {ms} ms, but never completes"
            )
        still = set(range(self.arrived)) - self.rejected - set(self.outcome.completed)
        for job in sorted(still ^ self.unfinished):
            fault = "has no final event" if job in still else "is unfinished although it ended before"
            self.problems.append(f"events.jsonl: job {self.jobs[job]['id']} {fault}")

    def _known(self, at: str, job: int) -> bool:
        if job >= self.arrived:
            self.problems.append(f"{at}: job {job} has not arrived")
        return job < self.arrived

    def _broken(self, job: int, bar: Sequence[int], at_ms: int) -> str | None:
        """The rule that a bar of a new plan breaks."""
        if bar[JOB] != job:
            return f"be of job {job}"
        if not 0 <= bar[ROLE] < len(ROLES):
            return f"have a role below {len(ROLES)}"
        if bar[SERVER] >= len(self.names) or (bar[SERVER] == CLOUD and not self.cluster["cloud"]):
            return f"be on one of the {len(self.names):,} servers"
        if not at_ms <= bar[START] < bar[END]:
            return f"start at or after {at_ms} ms and end later"
        if bar[COUNT] < 1 or min(bar[WORKER_SLOT:]) < -1:
            return "have a count >= 1, and no worker, chunk or group below -1"
        return None


def cut(bar: Sequence[int], start_ms: int = 0, end_ms: int = FOREVER) -> list[int]:
    """The bar within an interval."""
    return [*bar[:START], max(bar[START], start_ms), min(bar[END], end_ms), *bar[COUNT:]]


def unclear(code: str, values: Row, servers: Sequence[str]) -> str | None:
    """Fault of an unreadable reason: its code has no sentence, or the sentence lacks a number."""
    try:
        sentence(code, values, servers)
    except Exception as error:  # the values of a file can be anything
        return f"reason {code!r}: {type(error).__name__}: {error}"
    return None


def held(rows: Iterable[Sequence[Any]]) -> Held:
    """Held units over time, independent of the division into rows: (*key, count, start_ms, end_ms) each."""
    found: defaultdict[tuple[Any, ...], dict[int, int]] = defaultdict(dict)
    for *place, count, start_ms, end_ms in rows:
        changes = found[tuple(place)]
        changes[start_ms] = changes.get(start_ms, 0) + count
        changes[end_ms] = changes.get(end_ms, 0) - count
    return {place: left for place, changes in found.items() if (left := {ms: by for ms, by in changes.items() if by})}


def differences(log: Held, rows: Held) -> Iterable[str]:
    """Differences between schedule.csv and the log; places are (job, role, server, worker, chunk, group) as texts."""
    for place in sorted(log.keys() | rows.keys()):
        outcome, written = log.get(place, {}), rows.get(place, {})
        if outcome != written:
            ms = min(ms for ms in outcome.keys() | written.keys() if outcome.get(ms) != written.get(ms))
            counts = (sum(by for at, by in changes.items() if at <= ms) for changes in (outcome, written))
            yield "schedule.csv: job {}: {} on {}: from {} ms on {} in events.jsonl, but {} here".format(
                place[0], place[1], place[2] or "no server", ms, *counts
            )
