"""Decision of a run about a job at an instant as text: the reason and the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scheduling.model.bars import CLOUD, COUNT, END, JOB, NONE, ROLE, SERVER, START
from scheduling.reporting.reasons import readable
from twin.analysis.comparison.compared import Side
from twin.analysis.comparison.outcomes import STATES
from twin.eventlog import job_states
from twin.eventlog.event_log import lines_and_bars
from twin.eventlog.fold import AT, JOB_OF, NEVER, REJECTED_AT, SEQ, VERDICT_OF, WORKER
from twin.eventlog.state_cache import Newest
from twin.models import Run

MAX_SERVERS = 4  # that are named


def decision_pair(
    runs: Sequence[Run], sides: Sequence[Side], jobs: Sequence[int], at_ms: int, until_ms: int
) -> list[dict[str, Any]]:
    """Decisions of two runs about a job, as `decision_of` states them, with the names of a few servers of each plan.

    A plan has {servers: the first names, more: number of further servers, own: the first of those that the plan of the
    other run lacks, own_more: number of further ones}. Plans of different times have no `own`.
    """
    found = [decision_of(run, side, job, at_ms, until_ms) for run, side, job in zip(runs, sides, jobs, strict=True)]
    plans = [one["next"]["plan"] if one["immediate"] else None for one in found]
    return [shortened(one, plan, other) for one, plan, other in zip(found, plans, reversed(plans), strict=True)]


def shortened(decision: dict[str, Any], plan: dict[str, Any] | None, other: dict[str, Any] | None) -> dict[str, Any]:
    """The decision with a few servers of its plans; plan and other: those of the two runs that are compared."""
    own = [name for name in plan["servers"] if name not in other["servers"]] if plan and other else []
    answer = dict(decision)
    for key in ("next", "standing"):
        if decision[key] and decision[key]["plan"]:
            names = decision[key]["plan"]["servers"]
            answer[key] = decision[key] | {
                "plan": decision[key]["plan"]
                | {"servers": names[:MAX_SERVERS], "more": max(0, len(names) - MAX_SERVERS)}
                | {"own": own[:MAX_SERVERS], "own_more": max(0, len(own) - MAX_SERVERS)}
            }
    return answer


def decision_of(run: Run, side: Side, job: int, at_ms: int, until_ms: int) -> dict[str, Any]:
    """{immediate, next, standing}: the first decision of a run about the job from the instant on, and its state before.

    immediate: whether `next` is of that very instant. next: {at_ms, kind, code, sentence, plan}, None when there is
    none until until_ms; kind, code and sentence are None for a plan without a verdict, plan is None for a verdict
    without one. standing: {state (one of STATES), at_ms, plan (that holds)}, None where `immediate`; at_ms: the time of
    the arrival, the completion, the rejection or the end of the run in the states that begin with it, otherwise of the
    newest decision that changed the plan.
    """
    acts = _acts(side, job)
    coming = acts[(acts[:, AT] >= at_ms) & (acts[:, AT] <= until_ms)]
    moment = int(coming[:, AT].min()) if len(coming) else None
    immediate = moment == at_ms
    return {
        "immediate": immediate,
        "next": None if moment is None else _decided(side, job, moment, coming[coming[:, AT] == moment, SEQ]),
        "standing": None if immediate else _standing(run, side, job, at_ms),
    }


def _acts(side: Side, job: int) -> np.ndarray:
    """[n, (SEQ, AT, JOB_OF)] of the verdicts and plans of the job."""
    verdicts, plans = side.decisions.verdicts, side.decisions.plans
    acts = np.concatenate((verdicts[:, :VERDICT_OF], plans))
    return np.asarray(acts[acts[:, JOB_OF] == job])


def _decided(side: Side, job: int, moment: int, seqs: np.ndarray) -> dict[str, Any]:
    """Decision about the job in these events of one time."""
    answer: dict[str, Any] = {"at_ms": moment, "kind": None, "code": None, "sentence": None, "plan": None}
    names = [server.name for server in side.cluster.servers]
    for seq, kind, data, bars in _events(side.run_id, int(seqs.min()), int(seqs.max())):
        if seq not in seqs:
            continue
        if kind == "decided":
            answer |= {
                "kind": data["kind"],
                "code": data["code"],
                "sentence": readable(data["code"], data["values"], names),
            }
        else:
            finish_ms = next((end for planned, _, end in data["jobs"] if planned == job), NEVER)
            answer["plan"] = _plan(bars[bars[:, JOB] == job], None if finish_ms == NEVER else finish_ms, names)
    return answer


def _standing(run: Run, side: Side, job: int, at_ms: int) -> dict[str, Any]:
    """State of the job at a time without a decision about it."""
    with Newest(run) as state:
        codes, end_ms = job_states.job_states(state, at_ms), state.sim_ms
        code = codes[job] if job < len(codes) else job_states.ABSENT
        rejected_ms = int(state.jobs.rows[job, REJECTED_AT]) if job < len(codes) else NEVER
    arrived_ms = int(side.outcomes.arrived_ms[job])
    begins = {  # of the states in which a plan plays no part
        job_states.ABSENT: None if arrived_ms == NEVER else arrived_ms,
        job_states.COMPLETED: int(side.outcomes.completed_ms[job]),
        job_states.REJECTED: rejected_ms,
        job_states.UNFINISHED: end_ms,
    }
    if code in begins:
        return {"state": STATES[code], "at_ms": begins[code], "plan": None}
    plans = side.decisions.plans
    mine = plans[(plans[:, JOB_OF] == job) & (plans[:, AT] < at_ms)]
    if not len(mine):
        return {"state": STATES[code], "at_ms": arrived_ms, "plan": None}
    last = mine[mine[:, SEQ].argmax()]
    plan = _decided(side, job, int(last[AT]), last[[SEQ]])["plan"]
    holds = code != job_states.QUEUED and plan["start_ms"] is not None
    return {"state": STATES[code], "at_ms": int(last[AT]), "plan": plan if holds else None}


def _events(run_id: int, first: int, last: int) -> list[tuple[int, str, Any, np.ndarray]]:
    found = []
    for lines, bars in lines_and_bars(run_id, first - 1, last):
        for seq, _, kind, data in lines:
            if first <= seq <= last and kind in ("decided", "plan_changed"):
                row, count = data.get("bars", (0, 0))
                found.append((seq, kind, data, bars[row : row + count]))
    return found


def _plan(bars: np.ndarray, finish_ms: int | None, names: list[str]) -> dict[str, Any]:
    """{start_ms, finish_ms, workers: most at a time, servers: names}.

    servers is empty for workers in a group: its decision states the group and its machines.
    """
    workers = bars[bars[:, ROLE] == WORKER]
    servers = np.unique(workers[workers[:, SERVER] != NONE, SERVER]).tolist()
    return {
        "start_ms": int(workers[:, START].min()) if len(workers) else None,
        "finish_ms": finish_ms,
        "workers": _peak(workers),
        "servers": ["cloud" if i == CLOUD else names[i] for i in servers],
    }


def _peak(workers: np.ndarray) -> int:
    """Maximum number of concurrent workers."""
    if not len(workers):
        return 0
    times = np.concatenate((workers[:, START], workers[:, END]))
    steps = np.concatenate((workers[:, COUNT], -workers[:, COUNT]))
    order = np.lexsort((steps, times))  # what ends makes room first
    return int(np.cumsum(steps[order]).max())
