"""Decision of a run about a job at an instant as text: the reason and the plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduling.model.bars import COUNT, END, JOB, ROLE, SERVER, START
from scheduling.model.values import CLOUD, NONE
from scheduling.reporting.reasons import readable
from twin.analysis.comparison.compared import Side
from twin.analysis.comparison.decisions import REJECTED
from twin.eventlog.event_log import lines_and_bars
from twin.eventlog.fold import NEVER, WORKER

MAX_SERVERS = 4  # that are named
# where nothing is decided about a job
STANDING = ("not arrived", "queued", "planned", "suspended", "rejected", "completed")


def decision_of(side: Side, job: int, at_ms: int, until_ms: int) -> dict[str, Any]:
    """{immediate, next, standing}: the first decision about the job from the instant on, and its state before.

    immediate: whether `next` is of that very instant. next: {at_ms, kind, code, sentence, plan}, None when there is
    none until until_ms; kind, code and sentence are None for a plan without a verdict, plan is None for a verdict
    without one. standing: {state (one of STANDING), at_ms (since when), plan (that holds)}, None where `immediate`.
    """
    acts = _acts(side, job)
    coming = acts[(acts[:, 1] >= at_ms) & (acts[:, 1] <= until_ms)]
    moment = int(coming[:, 1].min()) if len(coming) else None
    immediate = moment == at_ms
    return {
        "immediate": immediate,
        "next": None if moment is None else _decided(side, job, moment, coming[coming[:, 1] == moment, 0]),
        "standing": None if immediate else _standing(side, job, at_ms),
    }


def _acts(side: Side, job: int) -> np.ndarray:
    """[n, (seq, at_ms)] of the verdicts and plans of the job."""
    verdicts, plans = side.decisions.verdicts, side.decisions.plans
    return np.concatenate((verdicts[verdicts[:, 2] == job, :2], plans[plans[:, 2] == job, :2]))


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
            finish_ms = next((row[2] for row in data["jobs"] if row[0] == job), NEVER)
            answer["plan"] = _plan(bars[bars[:, JOB] == job], None if finish_ms == NEVER else finish_ms, names)
    return answer


def _standing(side: Side, job: int, at_ms: int) -> dict[str, Any]:
    """State of the job at a time without a decision about it."""
    arrived, completed = (int(times[job]) for times in (side.outcomes.arrived_ms, side.outcomes.completed_ms))
    if not 0 <= arrived <= at_ms:
        return {"state": "not arrived", "at_ms": arrived if arrived >= 0 else None, "plan": None}
    if 0 <= completed <= at_ms:
        return {"state": "completed", "at_ms": completed, "plan": None}
    verdicts, plans = side.decisions.verdicts, side.decisions.plans
    refused = verdicts[(verdicts[:, 2] == job) & (verdicts[:, 3] == REJECTED) & (verdicts[:, 1] < at_ms)]
    if len(refused):
        return {"state": "rejected", "at_ms": int(refused[0, 1]), "plan": None}
    mine = plans[(plans[:, 2] == job) & (plans[:, 1] < at_ms)]
    if not len(mine):
        return {"state": "queued", "at_ms": arrived, "plan": None}
    last = mine[mine[:, 0].argmax()]
    plan = _decided(side, job, int(last[1]), last[:1])["plan"]
    if plan["start_ms"] is not None:
        return {"state": "planned", "at_ms": int(last[1]), "plan": plan}
    ran = 0 <= side.outcomes.began_ms[job] < at_ms
    return {"state": "suspended" if ran else "queued", "at_ms": int(last[1]), "plan": None}


def _events(run_id: int, first: int, last: int) -> list[tuple[int, str, Any, np.ndarray]]:
    found = []
    for lines, bars in lines_and_bars(run_id, first - 1, last):
        for seq, _, kind, data in lines:
            if first <= seq <= last and kind in ("decided", "plan_changed"):
                row, count = data.get("bars", (0, 0))
                found.append((seq, kind, data, bars[row : row + count]))
    return found


def _plan(bars: np.ndarray, finish_ms: int | None, names: list[str]) -> dict[str, Any]:
    """{start_ms, finish_ms, workers: most at a time, servers: names, more: servers that are not named}.

    servers is empty for workers in a group: its decision states the group and its machines.
    """
    workers = bars[bars[:, ROLE] == WORKER]
    servers = np.unique(workers[workers[:, SERVER] != NONE, SERVER]).tolist()
    named = ["cloud" if i == CLOUD else names[i] for i in servers[:MAX_SERVERS]]
    return {
        "start_ms": int(workers[:, START].min()) if len(workers) else None,
        "finish_ms": finish_ms,
        "workers": _peak(workers),
        "servers": named,
        "more": len(servers) - len(named),
    }


def _peak(workers: np.ndarray) -> int:
    """Maximum number of concurrent workers."""
    if not len(workers):
        return 0
    times = np.concatenate((workers[:, START], workers[:, END]))
    steps = np.concatenate((workers[:, COUNT], -workers[:, COUNT]))
    order = np.lexsort((steps, times))  # what ends makes room first
    return int(np.cumsum(steps[order]).max())
