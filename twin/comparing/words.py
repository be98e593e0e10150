"""What a run decided about a job at an instant, in words: the verdict's sentence and the plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduling.reasons import sentence
from twin.comparing.compared import Side
from twin.comparing.decisions import COUNT, END, JOB, ROLE, SERVER, START
from twin.eventlog import lines_and_bars
from twin.state import NEVER, WORKER

MOST_SERVERS = 4  # that are named


def decision_of(side: Side, job: int, at_ms: int, until_ms: int) -> dict[str, Any] | None:
    """{at_ms, then: bool, kind, code, sentence, plan} of the first decision at or after the instant; None when there is none.

    then: it is decided at that very instant. kind, code and sentence are None for a plan without a verdict; plan is None
    for a verdict without one.
    """
    told, plans = side.decisions.verdicts, side.decisions.plans
    acts = np.concatenate((told[told[:, 2] == job, :2], plans[plans[:, 2] == job, :2]))
    acts = acts[(acts[:, 1] >= at_ms) & (acts[:, 1] <= until_ms)]
    if not len(acts):
        return None
    moment = int(acts[:, 1].min())
    seqs = acts[acts[:, 1] == moment, 0]
    answer: dict[str, Any] = {
        "at_ms": moment,
        "then": moment == at_ms,
        "kind": None,
        "code": None,
        "sentence": None,
        "plan": None,
    }
    names = [server.name for server in side.cluster.servers]
    for seq, kind, data, bars in _events(side.run_id, int(seqs.min()), int(seqs.max())):
        if seq not in seqs:
            continue
        if kind == "decided":
            answer |= {"kind": data["kind"], "code": data["code"], "sentence": sentence(data["code"], data["values"], names)}
        elif kind == "planned":
            answer["plan"] = _plan(bars, data["finish_ms"], names)
        else:
            finish_ms = next((row[2] for row in np.asarray(data["jobs"]).reshape(-1, 3).tolist() if row[0] == job), NEVER)
            answer["plan"] = _plan(bars[bars[:, JOB] == job], None if finish_ms == NEVER else finish_ms, names)
    return answer


def _events(run_id: int, first: int, last: int) -> list[tuple[int, str, Any, np.ndarray]]:
    found = []
    for lines, bars in lines_and_bars(run_id, first - 1, last):
        for seq, _, kind, data in lines:
            if first <= seq <= last and kind in ("decided", "planned", "lanes_planned"):
                row, count = data.get("bars", (0, 0))
                found.append((seq, kind, data, bars[row : row + count]))
    return found


def _plan(bars: np.ndarray, finish_ms: int | None, names: list[str]) -> dict[str, Any]:
    """{start_ms, finish_ms, workers: most at a time, servers: names, more: servers that are not named}."""
    workers = bars[bars[:, ROLE] == WORKER]
    servers = np.unique(workers[:, SERVER]).tolist()
    named = [names[i] if i >= 0 else "cloud" for i in servers[:MOST_SERVERS]]
    return {
        "start_ms": int(workers[:, START].min()) if len(workers) else None,
        "finish_ms": finish_ms,
        "workers": _peak(workers),
        "servers": named,
        "more": len(servers) - len(named),
    }


def _peak(workers: np.ndarray) -> int:
    """Most workers at a time."""
    if not len(workers):
        return 0
    times = np.concatenate((workers[:, START], workers[:, END]))
    steps = np.concatenate((workers[:, COUNT], -workers[:, COUNT]))
    order = np.lexsort((steps, times))  # what ends makes room first
    return int(np.cumsum(steps[order]).max())
