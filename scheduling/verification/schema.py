"""Schema of the files that the verifier rechecks: keys and types of values. Their meaning is checked later.

Every problem is one line: the file, the line if any, and what is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from scheduling.model.limits import MAX_INT, MIN_REAL
from scheduling.model.values import SITES, shorten
from scheduling.verification.value_checks import (
    Check,
    Row,
    absent_or,
    anything,
    bars,
    boolean,
    fixed,
    interval,
    job_share,
    keys,
    many,
    named,
    number,
    one_of,
    plain,
    prices,
    real,
    row,
    slots,
    text,
    triples,
    whole,
)

AMOUNTS = ("gpu", "cpu", "memory", "storage", "bandwidth")
COLUMNS = ("job", "chunk", "role", "server", "lane", "count", "group", "start_ms", "end_ms")  # of schedule.csv
VERDICTS = (
    "admitted", "rejected", "started", "resumed", "preempted", "postponed", "overran", "paused", "moved", "resized",
    "regrouped", "requeued", "ended", "unfinished", "displaced",
)  # fmt: skip
UTILITY_BOUNDS = ("trivial", "repaired_dual", "pooled_lp", "lp_priced_dual", "branched_dual")  # from above, of utility
TIME_BOUNDS = {  # from below, in ms
    "jct_lb": "total completion time", "jct_iso": "total completion time", "machine_work": "makespan",
    "longest_job": "makespan",
}  # fmt: skip
CERTIFICATES = (*UTILITY_BOUNDS, *TIME_BOUNDS)
MAX_PROBLEMS = 100  # problems of one file; the rest is not checked


STATED: dict[str, Check] = {"model": text, "packs": many(one_of(AMOUNTS), "a list of resources"), "final": boolean}
execution = row(STATED, open_=True)  # how a scheduler runs jobs; other keys depend on the model (by_model.py)

_WHOLE, _COUNT, _REAL, _SHARE = whole(), whole(1), real(0, MAX_INT), real(MIN_REAL, MAX_INT)
_AMOUNTS = row({}, dict.fromkeys(AMOUNTS, real(0, 10**12)))
_ROLES = many(one_of(("worker", "ps")), "a list of worker and ps")
_SERVER = row(
    {"name": text, "capacity": _AMOUNTS},
    {
        "roles": absent_or(_ROLES),
        "away": absent_or(many(interval, "a list of [from_ms, to_ms]")),
        "queues": absent_or(many(text, "a list of names")),
        "worker_lanes": absent_or(named(_WHOLE)),
        "ps_lanes": absent_or(named(_WHOLE)),
        "site": absent_or(one_of(SITES)),
        **dict.fromkeys(("speed", "nic_gbps", "disk_gbps"), absent_or(_SHARE)),
    },
    open_=True,
)
_CLUSTER = row(
    {"slot_ms": _COUNT, "servers": many(anything, "a list")},
    {"horizon_slots": absent_or(_COUNT), "cloud": absent_or(row({"unlimited": boolean}))},
    open_=True,
)
_JOB = row(
    {"id": text, "arrival_ms": _WHOLE},
    {
        **dict.fromkeys(
            ("epochs", "num_chunks", "minibatches_per_chunk", "num_samples", "global_batch", "workers_per_ps"),
            absent_or(_COUNT)
        ),
        **dict.fromkeys(("minibatch_ms", "sample_ms", "internal_gbps", "external_gbps"), absent_or(_SHARE)),
        "gradient_mb": absent_or(_REAL), "worker": absent_or(_AMOUNTS), "ps": absent_or(_AMOUNTS),
        "utility": absent_or(row({"priority": _SHARE, "sensitivity": _REAL, "target_slots": _REAL})),
        "ps_update_ms": absent_or(_REAL), "chunk_mb": absent_or(_REAL), "cloud_upload_ms": absent_or(_WHOLE),
        "worker_type": absent_or(text), "ps_type": absent_or(text),
        **dict.fromkeys(("comp_machine_ms", "comm_ms", "input_gb", "model_gb"), absent_or(_REAL)),
        **dict.fromkeys(
            ("requested_workers", "limit_ms", "iterations", "iterations_per_epoch"), absent_or(_COUNT)
        ),
        "upload_ms": absent_or(many(_WHOLE, "a list of integers from 0")),
        "earlier_sizes": absent_or(many(
            row({"until_ms": _WHOLE, "worker": _AMOUNTS, "requested_workers": _COUNT}), "a list of earlier sizes"
        )),
    },
    open_=True,
)  # fmt: skip
_REASON = row({"code": text, "values": named(plain)})
_DECISION = row({"seq": _COUNT, "at_ms": _WHOLE, "job": text, "kind": one_of(VERDICTS), "reason": _REASON})
_CELLS = row(dict.fromkeys(COLUMNS, lambda value: None if isinstance(value, str) else "text"))
_METRICS = row({
    "total_utility": absent_or(number),
    **dict.fromkeys(("jobs", "admitted", "rejected", "completed", "suspensions"), _WHOLE),
    **dict.fromkeys(("mean_jct_ms", "median_jct_ms", "p95_jct_ms", "makespan_ms"), absent_or(_REAL)),
    "utilization": row(dict.fromkeys(AMOUNTS, absent_or(number))),
}, {"lanes": row({
    **dict.fromkeys(("job_suspensions", "cloud_chunks", "upload_ms", "transfer_ms", "exchange_ms", "communication_ms"),
                    _WHOLE),
    **dict.fromkeys(("mean_slowdown", "median_slowdown", "p95_slowdown", "mean_busy", "peak_busy"), absent_or(number)),
    "busy": named(named(number)),
}), "groups": row({
    **dict.fromkeys(("cpu_utilization", "net_utilization", "mean_jobs", "mean_groups", "mean_parallelism"),
                    absent_or(number)),
    **dict.fromkeys(("regroupings", "moves"), _WHOLE),
})})  # fmt: skip
_SUMMARY = row({
    "scheduler": text, "parameters": named(plain), "seed": _WHOLE, "metrics": _METRICS,
    "certificate": absent_or(row({"kind": one_of(CERTIFICATES), "achieved": number, "bound": number,
                                  "ratio": real(0, 1)},
                                 {"edge_only": row({"kind": one_of(CERTIFICATES), "bound": number,
                                                    "ratio": real(0, 1)})})),
    "decision_ms": absent_or(row({"p50": _REAL, "p95": _REAL, "max": _REAL})), "wall_s": _REAL,
}, {
    "execution": execution, "beliefs": text,
    "schedulers": many(row({"from_ms": _WHOLE, "name": text, "title": text}),
                       "a list of schedulers with their start times"),
})  # fmt: skip
_WHOLES, _NUMBERS = many(_WHOLE, "a list of integers from 0"), many(number, "a list of numbers")
GROUPED = row({
    "group": _WHOLE, "servers": _WHOLES, "jobs": _WHOLES, "machines": _WHOLE, "iteration_ms": absent_or(_SHARE),
    "cpu_utilization": number, "net_utilization": number, "disk_ratios": _NUMBERS, "model_disk_ratios": _NUMBERS,
    "comp_ms": _NUMBERS, "comm_ms": _NUMBERS, "pace_ms": many(_SHARE, "a list of numbers above 0"), "ready_ms": _WHOLES,
    "bound": absent_or(one_of(("cpu", "net", "job"))), "profiling": _WHOLES, "memory_gb": _NUMBERS,
    "memory_used": number,
})  # fmt: skip
_PAIR = fixed(number, 2, "two numbers")
_THOUSANDTHS = fixed(_WHOLE, len(AMOUNTS), "a whole number for each resource")
_SHARES = many(job_share, "a list of [job, remaining share of its work, at least 0 and below 1]")
REGROUPED = row({
    "site": _WHOLE, "cause": one_of(("arrival", "completion", "machines", "round")), "jobs": _WHOLES,
    **dict.fromkeys(("before", "after"), _PAIR),
})  # fmt: skip
DATA: dict[str, Check] = {
    "run_started": row({
        "scheduler": text, "parameters": named(plain), "seed": _WHOLE, "jobs": _WHOLE, "servers": _WHOLE,
        "slot_ms": _COUNT, "horizon_slots": absent_or(_COUNT),
    }, {"execution": execution, "beliefs": text}),
    "job_arrived": row({"job": _WHOLE}, {"believed_ms": _COUNT}),
    "decided": row({"job": _WHOLE, "kind": one_of(VERDICTS), "code": text, "values": named(plain)}),
    "plan_changed": row({"scope": one_of(("job", "worker")), "keys": keys, "jobs": triples, "bars": bars}),
    "grouped": GROUPED,
    "regrouped": REGROUPED,
    "job_completed": row({"job": _WHOLE, "utility": number}),
    "job_added": row({"job": _WHOLE, "fields": named(anything)}),
    "server_added": row({"server": _WHOLE, "fields": named(anything)}),
    "server_set": row({"server": _WHOLE, "fields": named(anything)}, {"was": _THOUSANDTHS}),
    "server_changed": row({"server": _WHOLE, "away": boolean}),
    "edited": row({
        "phase": _COUNT, "said": many(text, "a list of strings"), "scheduler": text, "parameters": named(plain),
        "kept": _WHOLE, "displaced": _WHOLES, "offered": _WHOLE,
    }, {"execution": execution, "shares": _SHARES}),
    "priced": row({"slots": slots, "low": prices, "mean": prices, "high": prices}),
    "run_finished": row({}),
}  # fmt: skip  # of every kind of event


def check_inputs(cluster: Any, jobs: Sequence[Any], problems: list[str]) -> None:
    """cluster.json and jobs.jsonl, as far as the verifier uses them."""
    if (broken := _CLUSTER(cluster)) is not None:
        problems.append(f"cluster.json: must be {broken}")
    else:
        _rows("cluster.json", "server", cluster["servers"], _SERVER, problems)
    _rows("jobs.jsonl", "line", jobs, _JOB, problems)


def check_results(schedule: Sequence[Any], decisions: Sequence[Any], summary: Any, problems: list[str]) -> None:
    """schedule.csv, decisions.jsonl and summary.json."""
    _rows("schedule.csv", "line", schedule, _CELLS, problems, first=2)
    _rows("decisions.jsonl", "line", decisions, _DECISION, problems)
    if (broken := _SUMMARY(summary)) is not None:
        problems.append(f"summary.json: must be {broken}")


def check_events(events: Iterable[Any], problems: list[str]) -> list[Row]:
    """Well-formed log without its prices, which nothing depends on: seq from 1 without gaps, times in order."""
    log: list[Row] = []
    before_ms, wrong, number_ = 0, 0, 0
    for number_, event in enumerate(events, start=1):
        broken = _event(event, number_, before_ms)
        if broken is None:
            before_ms = event["at_ms"]
            if event["kind"] != "priced":
                log.append(event)
        else:
            wrong += 1
            problems.append(f"events.jsonl: line {number_}: must be {broken}")
            if wrong == MAX_PROBLEMS:
                return log
    if not wrong:
        for place, kind in ((0, "run_started"), (-1, "run_finished")):
            if not log or log[place]["kind"] != kind:
                problems.append(
                    f"events.jsonl: the {'last' if place else 'first'} event must be {kind}: the log is incomplete"
                )
        last = (number_,) if log and log[-1]["kind"] == "run_finished" else ()
        for event in log:
            if event["kind"] in ("run_started", "run_finished") and event["seq"] not in (1, *last):
                problems.append(
                    f"events.jsonl: line {event['seq']}: {event['kind']} must not occur between other events"
                )
    return log


def _event(event: Any, line: int, before_ms: int) -> str | None:
    if (
        not isinstance(event, dict)
        or len(event) != 4
        or not all(key in event for key in ("seq", "at_ms", "kind", "data"))
    ):
        return "an object with seq, at_ms, kind, data and nothing else"
    seq, at_ms, kind = event["seq"], event["at_ms"], event["kind"]
    if type(seq) is not int or seq != line:
        return f"the event with seq {line}, not {shorten(repr(seq))}"
    if type(at_ms) is not int or not before_ms <= at_ms <= MAX_INT:
        return f"at a time from {before_ms} ms, that of the event before, to 2^53 ms, not {shorten(repr(at_ms))}"
    check = DATA.get(kind) if isinstance(kind, str) else None
    if check is None:
        if kind in ("planned", "lanes_planned"):
            return (
                f"of this version: {kind} is from an older version; verify the run "
                "with that version, or simulate it again"
            )
        return f"of a kind among {', '.join(DATA)}, not {shorten(repr(kind))}"
    data = event["data"]
    broken = check(data)
    if broken is None and kind == "priced" and not _fitting(data):
        broken = "prices for every slot, site and resource, each low <= mean <= high, or all three null"
    return None if broken is None else f"{kind} with data that is {broken}"


def _fitting(data: Row) -> bool:
    """A price for each site and resource of a slot; they are rounded to six digits."""
    low, mean, high = data["low"], data["mean"], data["high"]
    count = len(SITES) * len(AMOUNTS) * (1 if data["slots"] == "all" else len(data["slots"]))
    if not len(low) == len(mean) == len(high) == count:
        return False
    near = 1 + 1e-5
    return all(
        (a is None and b is None and c is None)
        if a is None or b is None or c is None
        else a <= b * near and b <= c * near
        for a, b, c in zip(low, mean, high, strict=True)
    )


def _rows(file: str, what: str, values: Sequence[Any], check: Check, problems: list[str], first: int = 1) -> None:
    wrong = 0
    for place, value in enumerate(values, start=first):
        if (broken := check(value)) is not None:
            wrong += 1
            problems.append(f"{file}: {what} {place}: must be {broken}")
            if wrong == MAX_PROBLEMS:
                return
