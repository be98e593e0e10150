"""Preview of a job: its outcome if it arrived at a run now, and its effect on the others. Nothing is kept.

The run is continued twice from its newest state, with the job and without it, until the job is done or rejected, or the
time is up; what differs between the two is what the job would do to the others. So the answer is the scheduler's own,
whichever it is.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import orjson

from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import CLOUD, COUNT, END, JOB, NONE, ROLE, SERVER, START, Role
from scheduling.model.known_names import unknown
from scheduling.model.speed import completed, without_stale
from scheduling.model.values import Event, Job, ModelError
from scheduling.reporting.reasons import readable
from scheduling.slotted.counterfactuals import counterfactuals
from scheduling.slotted.counterfactuals import sentence as reversing
from twin.eventlog import remaining_work
from twin.eventlog.fold import BORN, DIED, NEVER
from twin.eventlog.stored_states import at
from twin.files.jobs_csv import ALL
from twin.files.jobs_jsonl import JOB_KEYS, job_from_dict, job_to_dict
from twin.infra import gc_control
from twin.infra.errors import Refused
from twin.models import Run
from twin.runs import commands, engine
from twin.scenarios import beliefs, store
from twin.scenarios.edits import Stage
from twin.scenarios.phase_rules import scheduler_of
from twin.scenarios.store import played

MAX_S = 4.0  # of wall time for each of the two
STRIDE = 200  # events between two checks of the clock
MAX_ROWS = 20  # listed jobs that it delays or rejects
WORKER = int(Role.WORKER)
FIXED = {  # fields that a copy of a job does not take from the request, and why
    "id": "the copy has an id of its own",
    "arrival_ms": "the copy arrives at the current time of the run",
    "provenance": "it follows from the other fields",
}


@dataclass
class Played:
    """Outcome of each job in one future, by id."""

    plans: dict[str, tuple[int, int]] = field(default_factory=dict)  # start and finish (NEVER) by its newest plan
    completed: dict[str, int] = field(default_factory=dict)
    rejected: set[str] = field(default_factory=set)
    until_ms: int = 0


def job_of(run: Run, like: str, changes: dict[str, Any]) -> Job:
    """A job like one of the run's, or a new one if `like` is empty, with other fields; ModelError for no job."""
    _, jobs = store.of_run(run)
    given: dict[str, Any] = {}
    if like:
        model = next((job for job in jobs if job.id == like), None)
        if model is None:
            raise ModelError(f"run {run.pk} has no job {like!r}; choose one of its jobs, or give all fields")
        given = job_to_dict(without_stale(model, changes))
    job = arriving(given | changed(given, changes), name_for({job.id for job in jobs}), run.sim_ms)
    made = {name: origin for name, origin in job.provenance.items() if origin == "derived" and name not in changes}
    return completed(replace(job, provenance=made))


def changed(given: Mapping[str, Any], changes: Mapping[str, Any], more: Sequence[str] = ()) -> dict[str, Any]:
    """The changes of the fields of a job; ModelError names a field that no job has, and what would work.

    more: names that work besides the fields.
    """
    for name in changes:
        if given and name in FIXED:
            raise ModelError(f"changes: {name} cannot be changed: {FIXED[name]}; omit it")
        if name in JOB_KEYS:
            continue
        whole, _, part = name.partition(".")
        if name in ALL:  # as in jobs.csv
            parts = (given.get(whole) or {}) | {part: changes[name]}
            raise ModelError(
                f"changes: {name} is a column of jobs.csv, not a field of a job; give the whole field: "
                f"{whole} = {orjson.dumps(parts).decode()}"
            )
        fields = [key for key in JOB_KEYS if key not in FIXED]
        raise ModelError(f"changes: {unknown('field of a job', name, [*fields, *more])}")
    return dict(changes)


def arriving(fields: Mapping[str, Any], id_: str, at_ms: int) -> Job:
    """The job with these fields under another id and with another arrival; an id and an arrival that are given are
    checked nevertheless.
    """
    given = {name: value for name, value in fields.items() if value is not None or name not in ("id", "arrival_ms")}
    return replace(job_from_dict({"id": id_, "arrival_ms": at_ms} | given), id=id_, arrival_ms=at_ms)


def ask(run: Run, job: Job) -> dict[str, Any]:
    """{verdict, sentence, start_ms, finish_ms, workers, servers, displaced, counterfactuals, until_ms, complete}.

    Of the job if it came now.

    Refused when the run has ended or has not begun.
    """
    if run.status not in Run.ACTIVE or not run.last_seq:
        raise Refused(f"run {run.pk} is {run.status}; choose an active run, or fork this one and choose the fork")
    beliefs.refuse(run, "asked about a job")
    stages = store.stages_of(run.scenario, run.edits)
    now_ms = commands.now_ms(run)
    job = replace(job, arrival_ms=_from_ms(stages, now_ms) + 1)
    with_it = _with(stages, now_ms, job)
    servers = [server.name for server in with_it[-1].state.cluster.servers]
    answer = compare_futures(job, servers, _future(run, with_it), _future(run, stages)) | {"at_ms": now_ms}
    jobs = _stage(with_it, job.arrival_ms).state.jobs
    answer["counterfactuals"] = _counterfactuals(run, [one for one in stages if one.at_ms <= now_ms], jobs, job)
    return answer


def compare_futures(job: Job, servers: Sequence[str], asked: Simulation, without: Simulation) -> dict[str, Any]:
    """The answer from two futures, one with the job and one without it; it lacks at_ms and counterfactuals."""
    watched = _Watched(job.id, servers)
    mine, complete = _play(asked, watched, None)
    others, _ = _play(without, None, mine.until_ms)
    return watched.answer | {
        "until_ms": mine.until_ms,
        "complete": complete,
        "displaced": _displaced(mine, others, job.id),
    }


def name_for(taken: set[str]) -> str:
    """An id of the job that no other job has."""
    return next(id_ for n in range(1, len(taken) + 2) if (id_ := "asked" if n == 1 else f"asked+{n}") not in taken)


def _from_ms(stages: Sequence[Stage], now_ms: int) -> int:
    """Start of the first stage with the job: now, or 1 ms later if a stage starts now, so that its edits come first."""
    return now_ms + 1 if any(stage.at_ms == now_ms for stage in stages) else now_ms


def _with(stages: Sequence[Stage], now_ms: int, job: Job) -> list[Stage]:
    """Stages of the run with one more, at `_from_ms`; it and all later ones have the job."""

    def joined(stage: Stage) -> Stage:
        jobs = list(stage.state.jobs)
        jobs.insert(bisect_right([row.arrival_ms for row in jobs], job.arrival_ms), job)
        return stage._replace(state=stage.state.with_jobs(jobs))

    past = [stage for stage in stages if stage.at_ms <= now_ms]
    later = [joined(stage) for stage in stages if stage.at_ms > now_ms]
    begin = joined(past[-1])._replace(at_ms=_from_ms(stages, now_ms), sentences=("Ask about a job",))
    return [*past, begin, *later]


def _future(run: Run, stages: Sequence[Stage]) -> Simulation:
    """Simulation at the end of the run's log, with these stages."""
    of_run = engine.at_end(run, played(stages, run.scenario.seed))
    return of_run.simulation


def _play(simulation: Simulation, watched: _Watched | None, until_ms: int | None) -> tuple[Played, bool]:
    """Continuation until the watched job is done, the given time is reached, or time is up; true if it got there."""
    seen = Played()
    ends = time.monotonic() + MAX_S
    with gc_control.paused():
        while True:
            events = simulation.run_until(until_ms, STRIDE)
            for event in events:
                _note(seen, event, simulation.jobs)
                if watched is not None:
                    watched.feed(event, simulation.jobs)
            if events:
                seen.until_ms = events[-1].at_ms
            if not events or (watched is not None and watched.over):
                return seen, watched is None or watched.over or simulation.next_ms is None
            if time.monotonic() > ends:
                return seen, False


def _note(seen: Played, event: Event, jobs: Sequence[Job]) -> None:
    data = event.data
    if event.kind == "plan_changed":
        for job, start_ms, finish_ms in data["jobs"]:
            seen.plans[jobs[job].id] = (start_ms, finish_ms)
    elif event.kind == "job_completed":
        seen.completed[jobs[data["job"]].id] = event.at_ms
    elif event.kind == "decided" and data["kind"] == "rejected":
        seen.rejected.add(jobs[data["job"]].id)


class _Watched:
    """Events about the previewed job."""

    def __init__(self, id_: str, servers: Sequence[str]) -> None:
        self.id, self.servers = id_, servers
        self.over = False
        self.answer: dict[str, Any] = {
            "verdict": None, "sentence": "", "values": {}, "start_ms": None, "finish_ms": None, "workers": 0,
            "servers": [], "utility": None,
        }  # fmt: skip

    def feed(self, event: Event, jobs: Sequence[Job]) -> None:
        data, answer = event.data, self.answer
        if event.kind == "plan_changed":
            for job, start_ms, finish_ms in data["jobs"]:
                if jobs[job].id == self.id:
                    answer |= {"start_ms": _known(start_ms), "finish_ms": _known(finish_ms)}
                    self._bars([bar for bar in np.asarray(data["bars"]).reshape(-1, BORN).tolist() if bar[JOB] == job])
            return
        if data.get("job") is None or jobs[data["job"]].id != self.id:
            return
        if event.kind == "decided" and answer["verdict"] is None:
            answer |= {
                "verdict": data["kind"],
                "sentence": readable(data["code"], data["values"], self.servers),
                "values": dict(data["values"]),
            }
            self.over = data["kind"] == "rejected"
        elif event.kind == "decided" and data["kind"] == "unfinished":
            self.over = True
        elif event.kind == "job_completed":
            answer |= {"finish_ms": event.at_ms, "utility": data["utility"]}
            self.over = True

    def _bars(self, bars: list[list[int]]) -> None:
        workers = [bar for bar in bars if bar[ROLE] == WORKER]
        if not workers:
            return
        edges = sorted({bar[START] for bar in workers})
        peak = max(sum(bar[COUNT] for bar in workers if bar[START] <= ms < bar[END]) for ms in edges)
        self.answer["workers"] = max(self.answer["workers"], peak)
        servers = {bar[SERVER] for bar in workers} - {NONE}
        names = {"cloud" if server == CLOUD else self.servers[server] for server in servers}
        self.answer["servers"] = sorted({*self.answer["servers"], *names})


def _known(ms: int) -> int | None:
    return None if ms < 0 else ms


def _displaced(mine: Played, others: Played, asked: str) -> dict[str, Any]:
    """{later, later_ms, open, rejected, rows: [{id, was_ms, now_ms, rejected}]}, the worst first.

    later: jobs that end later, by later_ms in all; open: jobs that have no end by then and would have one without it;
    rejected: jobs that are rejected because of it, which is no delay. Each job counts once; rows are the first MAX_ROWS
    of all.
    """

    def end(seen: Played, id_: str) -> int | None:
        return seen.completed.get(id_, _known(seen.plans.get(id_, (NEVER, NEVER))[1]))

    rejected: list[dict[str, Any]] = []
    unending: list[dict[str, Any]] = []
    later: list[tuple[int, dict[str, Any]]] = []
    for id_ in sorted(
        mine.plans.keys() | others.plans.keys() | mine.completed.keys() | others.completed.keys() | mine.rejected
    ):
        was, now = end(others, id_), end(mine, id_)
        row = {"id": id_, "was_ms": was, "now_ms": now, "rejected": False}
        if id_ == asked:
            continue
        if id_ in mine.rejected - others.rejected:
            rejected.append(row | {"now_ms": None, "rejected": True})
        elif was is not None and now is None:
            unending.append(row)
        elif was is not None and now is not None and now > was:
            later.append((now - was, row))
    delayed = [row for _, row in sorted(later, key=lambda pair: -pair[0])]
    return {
        "later": len(later),
        "later_ms": sum(by_ms for by_ms, _ in later),
        "open": len(unending),
        "rejected": len(rejected),
        "rows": [*rejected, *unending, *delayed][:MAX_ROWS],
    }


def _stage(stages: Sequence[Stage], at_ms: int) -> Stage:
    return [stage for stage in stages if stage.at_ms <= at_ms][-1]


def _counterfactuals(run: Run, past: Sequence[Stage], jobs: Sequence[Job], job: Job) -> list[dict[str, Any]]:
    """Counterfactuals of the preview, for schedulers that decide by payoff. past: stages that have begun.

    jobs: of the run, with the job. Empty while an edit at this time has not been applied: the log does not yet state
    what remains on the servers.
    """
    if 0 < run.sim_ms <= past[-1].at_ms:
        return []
    phase = past[-1].state
    scheduler = scheduler_of(phase)
    if not scheduler.quotes:
        return []
    index = next(i for i, one in enumerate(jobs) if one.id == job.id)
    jobs = remaining_work.of_phases(run.pk, [*(stage.state.jobs for stage in past[:-1]), jobs])[-1]
    scheduler.start(phase.cluster, scheduler.known_jobs(jobs, index + 1), np.random.default_rng(run.scenario.seed))
    state = at(run.pk, run.last_seq)  # as of the question: the run goes on meanwhile, with jobs that are not known here
    bars = state.bars.rows
    scheduler.assume(bars[bars[:, DIED] == NEVER][:, :BORN], index + 1)
    reason = scheduler.explain(job.arrival_ms, job)
    if reason.code not in ("payoff_positive", "payoff_not_positive", "no_capacity", "too_late"):
        return []
    admitted, slot_ms = reason.code == "payoff_positive", phase.cluster.slot_ms
    found = counterfactuals(scheduler, index, reason)
    return [{"what": row.what, "sentence": reversing(row, admitted, slot_ms)} for row in found]
