"""What the event log of a run says, replayed for the verifier: which jobs came, what was planned, what became of it.

The log is the source of truth: schedule.csv, decisions.jsonl and summary.json have to follow from it. Here it is held against the
inputs and against itself. It is well formed already (verifier_form.py); jobs and servers are named by their index.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduling.reasons import sentence

ROLES = ("worker", "ps", "transfer")
NOWHERE, CLOUD = -1, -2  # servers of a bar
Row = Mapping[str, Any]
Plan = list[list[int]]  # bars: job, role, server, start_ms, end_ms, count, lane, chunk, group
Held = dict[tuple[Any, ...], dict[int, int]]  # what stands where -> {ms: by how much it changes}


@dataclass
class Told:
    """The outcome of a log, by index of the job."""

    bars: dict[int, Plan] = field(default_factory=dict)  # as they were: each plan replaces the future of the one before
    completed: dict[int, tuple[int, float]] = field(default_factory=dict)  # when, and its utility
    decisions: list[Row] = field(default_factory=list)  # `decided` events
    first: dict[int, str] = field(default_factory=dict)  # kind of the first decision
    started: Row = field(default_factory=dict)  # data of run_started


def replay(
    cluster: Row,
    jobs: Sequence[Row],
    log: Iterable[Row],
    problems: list[str],
    edited: Sequence[int] = (),
    begins: Row | None = None,
) -> Told:
    """Plays the log; whatever cannot have happened is a problem.

    edited: when edits take effect; cluster and jobs are then those of the last phase. begins: {jobs, servers} of the first one.
    """
    told = Told()
    player = _Player(cluster, jobs, told, problems)
    player.edits, player.begins = list(edited), begins or {"jobs": len(jobs), "servers": len(player.names)}
    for event in log:
        if player.unfinished and event["kind"] != "run_finished" and event["data"].get("kind") != "unfinished":
            problems.append(f"events.jsonl: line {event['seq']}: comes after jobs were told to be unfinished, which ends a run")
            break
        getattr(player, event["kind"])(f"events.jsonl: line {event['seq']}", event["at_ms"], event["data"], event)
    player.end()
    return told


class _Player:
    """One method for each kind of event."""

    edits: list[int]  # when those that are still to come take effect
    begins: Row

    def __init__(self, cluster: Row, jobs: Sequence[Row], told: Told, problems: list[str]) -> None:
        self.cluster, self.jobs, self.told, self.problems = cluster, jobs, told, problems
        self.names = [server["name"] for server in cluster["servers"]]
        self.arrived = 0  # jobs[:arrived] have arrived
        self.rejected: set[int] = set()
        self.unfinished: set[int] = set()
        self.finishes: dict[int, int] = {}  # when a job ends by its newest plan
        self.gangs: dict[int, tuple[int, int]] = {}  # workers and parameter servers that a reason promised
        self.on: dict[tuple[int, int, int], Plan] = {}  # bars of the newest plan of each lane
        self.starts: dict[int, int] = {}  # when a job begins by the newest plan of its lanes

    def run_started(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        self.told.started = data
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
            self.problems.append(f"{at}: job {job} arrives, but the next one of jobs.jsonl is {self.arrived} of {len(self.jobs)}")
            return
        self.arrived += 1
        if at_ms != self.jobs[job]["arrival_ms"]:
            self.problems.append(
                f"{at}: job {self.jobs[job]['id']} arrives at {at_ms} ms, but by jobs.jsonl at {self.jobs[job]['arrival_ms']} ms"
            )

    def decided(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        job, kind, code, values = data["job"], data["kind"], data["code"], data["values"]
        if not self._known(at, job):
            return
        self.told.decisions.append(event)
        self.told.first.setdefault(job, kind)
        if job in self.rejected or job in self.told.completed or job in self.unfinished:
            self.problems.append(f"{at}: job {self.jobs[job]['id']} is {kind} after its end")
        if kind == "rejected":
            self.rejected.add(job)
        elif kind == "unfinished":
            self.unfinished.add(job)
        if (broken := unclear(code, values, self.names)) is not None:
            self.problems.append(f"{at}: {broken}")
        elif code == "in_order":
            self.gangs[job] = (values["workers"], values["ps"])
            if values["waited_ms"] != at_ms - self.jobs[job]["arrival_ms"]:
                self.problems.append(f"{at}: says that job {self.jobs[job]['id']} waited for {values['waited_ms']!r} ms")

    def planned(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        job, finish_ms, bars = data["job"], data["finish_ms"], data["bars"]
        if not self._known(at, job):
            return
        id_ = self.jobs[job]["id"]
        self.starts.pop(job, None)  # what its lanes said before an edit
        if job in self.rejected or job in self.told.completed:
            self.problems.append(f"{at}: job {id_} is planned after its end")
        for number, bar in enumerate(bars):
            if (broken := self._broken(job, bar, at_ms)) is not None:
                self.problems.append(f"{at}: bar {number} of job {id_} must {broken}, got {bar}")
                return
        ends = [bar[4] for bar in bars if bar[1] == 0]
        if finish_ms is None:
            self.finishes.pop(job, None)
        else:
            self.finishes[job] = finish_ms
            if (
                finish_ms < at_ms
                or max(ends, default=finish_ms) != finish_ms
                or max((bar[4] for bar in bars), default=0) > finish_ms
            ):
                self.problems.append(f"{at}: job {id_} finishes at {finish_ms} ms, not when its last worker stops")
        gang = tuple(sum(bar[5] for bar in bars if bar[1] == role and bar[3] == at_ms) for role in (0, 1))
        if bars and self.gangs.pop(job, gang) != gang:
            self.problems.append(f"{at}: job {id_} begins with {gang[0]} workers and {gang[1]} parameter servers, not as decided")
        past = [bar if bar[4] <= at_ms else [*bar[:4], at_ms, *bar[5:]] for bar in self.told.bars.get(job, ()) if bar[3] < at_ms]
        self.told.bars[job] = past + [list(bar) for bar in bars]

    def lanes_planned(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """Replaces the futures of lanes; on the cloud, which has none, the job stands in place of the lane."""
        named = {(role, server, place) for role, server, place in data["lanes"]}
        for lane in named:
            self._over(self.on.pop(lane, []), at_ms)
            self.on[lane] = []
        for job, start_ms, finish_ms in data["jobs"]:
            if not self._known(at, job):
                return
            self.starts[job] = start_ms
            if finish_ms < 0:
                self.finishes.pop(job, None)
            elif finish_ms < at_ms:
                self.problems.append(f"{at}: job {self.jobs[job]['id']} finishes at {finish_ms} ms, before it was planned")
            else:
                self.finishes[job] = finish_ms
        for bar in data["bars"]:
            if not self._known(at, bar[0]):
                return
            id_ = self.jobs[bar[0]]["id"]
            if (broken := self._broken(bar[0], bar, at_ms)) is not None:
                self.problems.append(f"{at}: a bar of job {id_} must {broken}, got {bar}")
                return
            lane = (int(bar[1] == 1), bar[2], bar[0] if bar[2] == CLOUD else bar[6])
            if lane not in named:
                self.problems.append(f"{at}: a bar of job {id_} stands on a lane that is not named: {bar}")
                return
            if bar[0] in self.rejected or bar[0] in self.told.completed:
                self.problems.append(f"{at}: job {id_} is planned after its end")
            self.on[lane].append(list(bar))

    def _over(self, bars: Plan, at_ms: int | None = None) -> None:
        """These bars held, until at_ms at most."""
        for bar in bars:
            if at_ms is None or bar[3] < at_ms:
                if at_ms is not None and bar[4] > at_ms:
                    bar[4] = at_ms
                self.told.bars.setdefault(bar[0], []).append(bar)

    def grouped(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """What groups say is rechecked by verifier_groups.py."""

    def regrouped(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """The same."""

    def job_completed(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        job = data["job"]
        if not self._known(at, job):
            return
        if self.finishes.pop(job, None) != at_ms:
            self.problems.append(f"{at}: job {self.jobs[job]['id']} completes at {at_ms} ms, which was not planned")
        self.told.completed[job] = at_ms, data["utility"]

    def server_changed(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        server, away = data["server"], data["away"]
        if server >= len(self.names):
            self.problems.append(f"{at}: server {server} of {len(self.names)}")
            return
        begins, ends = ({interval[side] for interval in self.cluster["servers"][server]["away"]} for side in (0, 1))
        if at_ms not in (begins if away else ends):
            change = "leaves" if away else "returns"
            self.problems.append(f"{at}: server {self.names[server]} {change} at {at_ms} ms, but not by cluster.json")

    def edited(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        """What was displaced has to end by plans that follow."""
        if not self.edits or self.edits.pop(0) != at_ms:
            self.problems.append(f"{at}: an edit takes effect at {at_ms} ms, which nobody made")

    def run_finished(self, at: str, at_ms: int, data: Row, event: Row) -> None:
        pass

    def end(self) -> None:
        """What has to have happened by now."""
        for bars in self.on.values():
            self._over(bars)
        self.problems += [f"events.jsonl: the edit at {at_ms} ms does not take effect" for at_ms in self.edits]
        for job, start_ms in self.starts.items():
            first = min((bar[3] for bar in self.told.bars.get(job, ()) if bar[1] == 0), default=NOWHERE)
            if first != start_ms:
                self.problems.append(
                    f"events.jsonl: job {self.jobs[job]['id']} was told to start at {start_ms} ms and starts at {first} ms"
                )
        if self.arrived < len(self.jobs):
            self.problems.append(f"events.jsonl: {self.arrived} of {len(self.jobs)} jobs arrive")
        for job, ms in sorted(self.finishes.items()):
            self.problems.append(f"events.jsonl: job {self.jobs[job]['id']} was to finish at {ms} ms and never completes")
        still = set(range(self.arrived)) - self.rejected - set(self.told.completed)
        for job in sorted(still ^ self.unfinished):
            said = "ends without a word" if job in still else "is unfinished though it ended before"
            self.problems.append(f"events.jsonl: job {self.jobs[job]['id']} {said}")

    def _known(self, at: str, job: int) -> bool:
        if job >= self.arrived:
            self.problems.append(f"{at}: job {job} has not arrived")
        return job < self.arrived

    def _broken(self, job: int, bar: Sequence[int], at_ms: int) -> str | None:
        """The rule that a bar of a new plan breaks."""
        if bar[0] != job:
            return f"be of job {job}"
        if not 0 <= bar[1] < len(ROLES):
            return f"have a role below {len(ROLES)}"
        if bar[2] >= len(self.names) or (bar[2] == CLOUD and not self.cluster["cloud"]):
            return f"stand on one of the {len(self.names)} servers"
        if not at_ms <= bar[3] < bar[4]:
            return f"start at or after {at_ms} ms and end later"
        if bar[5] < 1 or min(bar[6:]) < -1:
            return "have a count >= 1, and no lane, chunk or group below -1"
        return None


def unclear(code: str, values: Row, servers: Sequence[str]) -> str | None:
    """Why nobody can read a reason: its code has no sentence, or the sentence misses a number."""
    try:
        sentence(code, values, servers)
    except Exception as error:  # the values are whatever stands in a file
        return f"reason {code!r}: {type(error).__name__}: {error}"
    return None


def held(rows: Iterable[Sequence[Any]]) -> Held:
    """What stands where over time, however it is cut into rows: (*what and where, count, start_ms, end_ms) each."""
    found: defaultdict[tuple[Any, ...], dict[int, int]] = defaultdict(dict)
    for *place, count, start_ms, end_ms in rows:
        changes = found[tuple(place)]
        changes[start_ms] = changes.get(start_ms, 0) + count
        changes[end_ms] = changes.get(end_ms, 0) - count
    return {place: left for place, changes in found.items() if (left := {ms: by for ms, by in changes.items() if by})}


def differences(log: Held, rows: Held) -> Iterable[str]:
    """Where schedule.csv is not what the log says; places are (job, role, server, lane, chunk, group) as texts."""
    for place in sorted(log.keys() | rows.keys()):
        told, written = log.get(place, {}), rows.get(place, {})
        if told != written:
            ms = min(ms for ms in told.keys() | written.keys() if told.get(ms) != written.get(ms))
            counts = (sum(by for at, by in changes.items() if at <= ms) for changes in (told, written))
            yield "schedule.csv: job {}: {} on {}: from {} ms on {} by events.jsonl, and {} here".format(
                place[0], place[1], place[2] or "no server", ms, *counts
            )
