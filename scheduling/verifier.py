"""Rechecks a finished output from its plain rows alone. It shares no code with schedulers, ledger, training or metrics.

The rows are those of the files (whole units, text ids), as Python values of any shape: their form is checked first
(verifier_form.py), then what they mean. events.jsonl is the source of truth (verifier_log.py): the schedule, the decisions and the
metrics have to follow from it. Every problem is one sentence; an empty list means that nothing is wrong.

Slot schedulers are checked in one of two worlds: `oasis` (003 constraints 2-10) and `pd-ors` (000 constraints 1-9); schedulers of
typed lanes by verifier_lanes.py, those of groups by verifier_groups.py. Bars of schedulers of other worlds are checked for form, arrival, roles and figures only.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduling.model import LARGEST, shorten
from scheduling.verifier_form import AMOUNTS, TIME_BOUNDS, check_events, check_inputs, check_results, number
from scheduling.verifier_groups import check_groups, group_figures
from scheduling.verifier_lanes import KINDS, check_lanes, lane_figures
from scheduling.verifier_log import CLOUD, NOWHERE, ROLES, Told, differences, held, replay, unclear

COUNTED = {"oasis": 5, "pd-ors": 4, None: 0}  # how many of AMOUNTS a server can run out of
PARTS = {
    "oasis": ("worker", "ps", "epochs", "num_chunks", "minibatches_per_chunk", "minibatch_ms", "gradient_mb"),
    "pd-ors": (
        "epochs",
        "num_samples",
        "global_batch",
        "sample_ms",
        "gradient_mb",
        "workers_per_ps",
        "internal_gbps",
        "external_gbps",
    ),
}  # what the amount of work is made of
WORLD_OF = {"oasis": "oasis", "pd_ors": "pd-ors"}  # unless their parameter `model` names another one
CHOOSING = ("fifo", "drf", "rrh", "dorm")  # live in the world named by their parameter `model`, or by the servers' roles
FINAL = ("oasis", "pd_ors", "a_online", "a_online_edge")  # what they admit, they complete
CLOSE = 1e-9  # relative, for sums of floats
NO_PAYOFF = 1e-12  # utility; a payoff up to here is none, and its job is rejected

Row = Mapping[str, Any]
Demands = Mapping[tuple[str, str], Sequence[int]]  # of (job, role): thousandths, in the order of AMOUNTS


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of schedule.csv that is well formed."""

    job: str
    role: str
    server: str
    count: int
    start_ms: int
    end_ms: int
    chunk: str
    lane: str
    group: str


def verify(
    cluster: Any, jobs: Sequence[Any], schedule: Sequence[Any], decisions: Sequence[Any], events: Iterable[Any], summary: Any,
    groups: Sequence[Any] | None = None,
) -> list[str]:  # fmt: skip
    """Everything that is wrong with an output; first what has the wrong shape, and only if nothing has, what cannot be true."""
    problems: list[str] = []
    check_inputs(cluster, jobs, problems)
    check_results(schedule, decisions, summary, problems)
    log = check_events(events, problems)
    if not problems:
        problems += [f"jobs.jsonl: job {id_}: stands there more than once" for id_ in _twice([job["id"] for job in jobs])]
        problems += [f"cluster.json: server {name}: stands there more than once" for name in _twice(_names(cluster))]
    if not problems:
        _check_meaning(_filled(cluster), jobs, schedule, decisions, log, summary, groups, problems)
    return problems


def _check_meaning(
    cluster: Row, jobs: Sequence[Row], schedule: Sequence[Row], decisions: Sequence[Row], log: Sequence[Row], summary: Row,
    groups: Sequence[Row] | None, problems: list[str],
) -> None:  # fmt: skip
    by_id = {job["id"]: job for job in jobs}
    servers = {server["name"]: server for server in cluster["servers"]}
    if (model := summary["parameters"].get("model")) not in (None, *PARTS) and summary["scheduler"] in (*CHOOSING, *WORLD_OF):
        problems.append(f"summary.json: the parameter model must be one of {', '.join(PARTS)}, got {model!r}")
        return
    world = _world(cluster, summary)
    told = replay(cluster, jobs, log, problems)
    bars = _bars(cluster, by_id, servers, schedule, problems)
    _check_schedule(cluster, jobs, told, bars, problems)
    _check_told(jobs, told, decisions, problems)
    per_job: dict[str, list[Bar]] = defaultdict(list)
    for bar in bars:
        per_job[bar.job].append(bar)
    slotted = world is not None
    for id_, own in per_job.items():
        _check_times(cluster, by_id[id_], own, slotted, problems)
    demands = {(id_, role): _thousandths(job.get(role)) for id_, job in by_id.items() for role in ("worker", "ps")}
    _check_capacity(servers, demands, bars, COUNTED[world], problems)
    done = {jobs[index]["id"]: at_ms for index, (at_ms, _) in told.completed.items()}
    if not problems:
        check_groups(cluster, jobs, log, summary, groups, problems)
    if summary["scheduler"] in KINDS:
        check_lanes(cluster, jobs, told, summary, problems)
    if world is not None:
        _check_work(cluster, by_id, per_job, demands, world, done, problems)
    first = _check_decisions(by_id, per_job, decisions, problems)
    if summary["scheduler"] in FINAL and (world is not None or cluster["horizon_slots"] is None):
        _check_final(by_id, done, first, problems)
    utilities = {id_: _utility(cluster, by_id[id_], end) for id_, end in done.items()}
    for index, (_, utility) in told.completed.items():
        if not _same(utility, utilities[jobs[index]["id"]]):
            problems.append(
                f"events.jsonl: job {jobs[index]['id']} completes with a utility of {utility!r}, recomputed {utilities[jobs[index]['id']]!r}"
            )
    _check_explanations(cluster, by_id, done, utilities, decisions, problems)
    expected = _figures(cluster, jobs, demands, told, done, utilities)
    if "lanes" in summary["metrics"] or (summary["scheduler"] in KINDS and any(told.bars.values())):
        expected["lanes"] = lane_figures(cluster, jobs, told)
    grouped = group_figures(cluster, jobs, log, done)
    if grouped or "groups" in summary["metrics"]:
        expected["groups"] = grouped
    _check_summary(expected, told, summary, problems)


def _names(cluster: Row) -> list[str]:
    return [server["name"] for server in cluster["servers"]]


def _filled(cluster: Row) -> Row:
    """The cluster with every key that may be left out."""
    servers = [
        {**server, "roles": server.get("roles") or ["worker", "ps"], "away": server.get("away") or []}
        for server in cluster["servers"]
    ]
    return {"horizon_slots": None, "cloud": None, **cluster, "servers": servers}


def _world(cluster: Row, summary: Row) -> str | None:
    name, model = summary["scheduler"], summary["parameters"].get("model")
    if name in CHOOSING:
        shared = all(len(server["roles"]) == 2 for server in cluster["servers"])
        return model or ("pd-ors" if shared else "oasis")
    return (model or WORLD_OF[name]) if name in WORLD_OF else None


def _bars(
    cluster: Row, jobs: Mapping[str, Row], servers: Mapping[str, Row], rows: Sequence[Row], problems: list[str]
) -> list[Bar]:
    """The rows that are well formed; the others become problems."""
    bars = []
    for line, row in enumerate(rows, start=2):
        where = f"schedule.csv: line {line}"
        id_, name, role = _plain(row["job"]), _plain(row["server"]), row["role"]
        numbers = {key: _integer(row[key]) for key in ("count", "start_ms", "end_ms")}
        wrong = [
            f"{key} must be an integer from 0 to 2^53, got {shorten(repr(row[key]))}"
            for key, value in numbers.items()
            if value is None
        ]
        for key in ("chunk", "lane", "group"):
            if row[key] and _integer(row[key]) is None:
                wrong.append(f"{key} must be empty or an integer >= 0, got {shorten(repr(row[key]))}")
        if id_ not in jobs:
            wrong.append(f"unknown job {shorten(repr(id_))}")
        if role not in ("worker", "ps", "transfer"):
            wrong.append(f"role must be worker, ps or transfer, got {shorten(repr(role))}")
        if name == "cloud":
            if not cluster.get("cloud"):
                wrong.append("the cluster has no unlimited cloud")
        elif name not in servers and (name or not row["group"]):
            wrong.append(f"unknown server {shorten(repr(name))}")
        elif name and role in ("worker", "ps") and role not in servers[name]["roles"]:
            wrong.append(f"server {name} does not take the role {role}")
        if not wrong and not (numbers["count"] or 0) >= 1:
            wrong.append(f"count must be >= 1, got {row['count']}")
        if not wrong and not (numbers["start_ms"] or 0) < (numbers["end_ms"] or 0):
            wrong.append(f"must end after its start, got [{row['start_ms']}, {row['end_ms']}) ms")
        if wrong:
            problems += [f"{where}: {text}" for text in wrong]
        else:
            count, start_ms, end_ms = (int(n or 0) for n in numbers.values())
            bars.append(Bar(id_, role, name, count, start_ms, end_ms, row["chunk"], row["lane"], row["group"]))
    return bars


def _check_schedule(cluster: Row, jobs: Sequence[Row], told: Told, bars: Sequence[Bar], problems: list[str]) -> None:
    """schedule.csv says what the log says."""
    names = {NOWHERE: "", CLOUD: "cloud"} | dict(enumerate(_names(cluster)))
    log = held(
        (
            jobs[job]["id"],
            ROLES[role],
            names[server],
            *(str(n) if n >= 0 else "" for n in (lane, chunk, group)),
            count,
            start_ms,
            end_ms,
        )
        for plan in told.bars.values()
        for job, role, server, start_ms, end_ms, count, lane, chunk, group in plan
    )
    rows = held((b.job, b.role, b.server, b.lane, b.chunk, b.group, b.count, b.start_ms, b.end_ms) for b in bars)
    problems += differences(log, rows)


def _check_told(jobs: Sequence[Row], told: Told, decisions: Sequence[Row], problems: list[str]) -> None:
    """decisions.jsonl is what was decided in the log, line by line."""
    for line, (event, row) in enumerate(zip(told.decisions, decisions, strict=False), start=1):
        data = event["data"]
        reason = {"code": data["code"], "values": data["values"]}
        expected = {
            "seq": event["seq"],
            "at_ms": event["at_ms"],
            "job": jobs[data["job"]]["id"],
            "kind": data["kind"],
            "reason": reason,
        }
        for name, value in expected.items():
            if row[name] != value:
                problems.append(
                    f"decisions.jsonl: line {line}: {name} is {shorten(repr(row[name]))}, but {shorten(repr(value))} in events.jsonl"
                )
    if len(told.decisions) != len(decisions):
        problems.append(f"decisions.jsonl: holds {len(decisions)} decisions, and events.jsonl {len(told.decisions)}")


def _check_times(cluster: Row, job: Row, bars: Sequence[Bar], slotted: bool, problems: list[str]) -> None:
    """Nothing before the arrival, nothing behind the horizon, whole slots only."""
    slot_ms, horizon = cluster["slot_ms"], cluster["horizon_slots"]
    for bar in bars:
        at = f"job {job['id']}: {bar.role} on {bar.server} in [{bar.start_ms}, {bar.end_ms}) ms"
        if bar.start_ms < job["arrival_ms"]:
            problems.append(f"{at} starts before the arrival at {job['arrival_ms']} ms")
        if slotted and (bar.start_ms % slot_ms or bar.end_ms % slot_ms):
            problems.append(f"{at} does not cover whole slots of {slot_ms} ms")
        if slotted and horizon is not None and bar.end_ms > horizon * slot_ms:
            problems.append(f"{at} ends behind the horizon of {horizon} slots")


def _check_capacity(servers: Mapping[str, Row], demands: Demands, bars: Sequence[Bar], counted: int, problems: list[str]) -> None:
    """No server ever holds more than it has: exact integers, between all changes."""
    if not counted:
        return
    changing: dict[str, list[tuple[int, int, list[int]]]] = defaultdict(list)
    for bar in bars:
        if bar.server in servers and bar.role != "transfer":
            amounts = [bar.count * amount for amount in demands[bar.job, bar.role]]
            changing[bar.server] += [(bar.start_ms, 1, amounts), (bar.end_ms, -1, amounts)]
            for begin, end in servers[bar.server]["away"]:
                if bar.start_ms < end and bar.end_ms > begin and any(amounts[:counted]):
                    problems.append(f"server {bar.server}: is away from {begin} to {end} ms, but holds job {bar.job} in between")
    for name, changes in changing.items():
        capacity = _thousandths(servers[name]["capacity"])
        changes.sort(key=lambda change: change[:2])  # at one time, what ends goes first
        total = [0] * len(AMOUNTS)
        full: set[int] = set()
        for at_ms, sign, amounts in changes:
            total = [t + sign * a for t, a in zip(total, amounts, strict=True)]
            for r in range(counted):
                if total[r] > capacity[r] and r not in full:
                    full.add(r)
                    problems.append(
                        f"server {name}: holds {total[r] / 1000:g} of {capacity[r] / 1000:g} {AMOUNTS[r]} from {at_ms} ms"
                    )


def _check_work(
    cluster: Row, jobs: Mapping[str, Row], per_job: Mapping[str, Sequence[Bar]], demands: Demands, world: str, done: Mapping[str, int],
    problems: list[str],
) -> None:  # fmt: skip
    """A job completes when its work is done, and only then."""
    for id_ in sorted(per_job.keys() | done.keys()):
        own = per_job.get(id_, ())
        worked = _completion(jobs[id_], own, demands[id_, "worker"], demands[id_, "ps"], world, problems)
        if worked != done.get(id_):
            ends, told = ("never" if ms is None else f"at {ms} ms" for ms in (worked, done.get(id_)))
            problems.append(f"job {id_}: its workers finish its work {ends}, but events.jsonl completes it {told}")


def _completion(
    job: Row, bars: Sequence[Bar], worker: Sequence[int], ps: Sequence[int], world: str, problems: list[str]
) -> int | None:
    """When the job's work is done (the end of its last worker bar), None if it never is. Checks counts on the way."""
    own = [bar for bar in bars if bar.role in ("worker", "ps")]
    if not own:
        return None
    missing = [part for part in PARTS[world] if job.get(part) is None]
    if missing:
        problems.append(f"job {job['id']}: runs without {', '.join(missing)}, so its work is unknown")
        return None
    done, last_ms = 0.0, None
    limit = job["num_chunks"] if world == "oasis" else job["global_batch"]
    told: set[str] = set()
    for start_ms, end_ms, standing in _stretches(own):
        workers = sum(n for (role, _), n in standing.items() if role == "worker")
        servers = sum(n for (role, _), n in standing.items() if role == "ps")
        if workers:
            last_ms = end_ms
            done += workers * (end_ms - start_ms) / _work_ms(job, worker[4], world, len({server for _, server in standing}) == 1)
        for rule, broken in _broken(job, world, workers, servers, limit, worker[4], ps[4]):
            if broken and rule not in told:
                told.add(rule)
                problems.append(f"job {job['id']}: from {start_ms} ms {workers} workers and {servers} parameter servers: {rule}")
    total = job["epochs"] * (job["num_chunks"] * job["minibatches_per_chunk"] if world == "oasis" else job["num_samples"])
    return last_ms if done >= total * (1 - CLOSE) else None


def _broken(job: Row, world: str, workers: int, ps: int, limit: int, need: int, give: int) -> Iterator[tuple[str, bool]]:
    """The rules of the counts at one time, and whether they are broken."""
    yield f"at most {limit} workers at a time", workers > limit
    yield "parameter servers without workers", ps > 0 and workers == 0
    yield "workers without parameter servers", workers > 0 and ps == 0
    if world == "oasis":
        yield f"{need / 1000:g} Gbps per worker and {give / 1000:g} per parameter server", workers * need > ps * give
        yield "no more parameter servers than workers", ps > workers > 0
    else:
        yield f"at most {job['workers_per_ps']} workers per parameter server", workers > ps * job["workers_per_ps"]


def _work_ms(job: Row, bandwidth: int, world: str, one_server: bool) -> float:
    """Milliseconds of one worker for one mini-batch (oasis) or one sample (pd-ors); 1 Mbps moves 0.000125 MB a ms."""
    if world == "oasis":
        exchange = 2 * job["gradient_mb"]
        if exchange and not bandwidth:
            return math.inf
        return job["minibatch_ms"] + (exchange / (0.000125 * bandwidth) if exchange else 0.0)
    rate = job["internal_gbps"] if one_server else job["external_gbps"]
    return job["sample_ms"] + job["workers_per_ps"] * 2 * job["gradient_mb"] / (0.125 * rate) / job["global_batch"]


def _stretches(bars: Sequence[Bar]) -> Iterator[tuple[int, int, dict[tuple[str, str], int]]]:
    """(start, end, {(role, server): count}) of every span in which nothing changes and something is held."""
    changes = sorted(
        (ms, (bar.role, bar.server), sign * bar.count) for bar in bars for ms, sign in ((bar.start_ms, 1), (bar.end_ms, -1))
    )
    standing: dict[tuple[str, str], int] = defaultdict(int)
    for position, (at_ms, place, change) in enumerate(changes):
        standing[place] += change
        if not standing[place]:
            del standing[place]
        following = changes[position + 1][0] if position + 1 < len(changes) else at_ms
        if standing and following > at_ms:
            yield at_ms, following, standing


def _check_decisions(
    jobs: Mapping[str, Row], per_job: Mapping[str, Sequence[Bar]], decisions: Sequence[Row], problems: list[str]
) -> dict[str, Row]:
    """The first decision of each job; it comes after the arrival and not after the first bar."""
    first: dict[str, Row] = {}
    before = 0
    for row in decisions:
        if row["job"] not in jobs:
            problems.append(f"decision {row['seq']}: unknown job {shorten(repr(row['job']))}")
            continue
        if row["seq"] <= before:
            problems.append(f"decision {row['seq']}: comes after decision {before}")
        before = row["seq"]
        if (broken := unclear(row["reason"]["code"], row["reason"]["values"], ())) is not None:
            problems.append(f"decision {row['seq']}: {broken}")
        if row["at_ms"] < jobs[row["job"]]["arrival_ms"]:
            problems.append(f"decision {row['seq']}: job {row['job']} had not arrived at {row['at_ms']} ms")
        first.setdefault(row["job"], row)
    for id_, bars in per_job.items():
        start_ms = min(bar.start_ms for bar in bars)
        if id_ not in first:
            problems.append(f"job {id_}: runs without a decision")
        elif first[id_]["kind"] == "rejected":
            problems.append(f"job {id_}: runs though it was rejected")
        elif first[id_]["at_ms"] > start_ms:
            problems.append(f"job {id_}: starts at {start_ms} ms, before its first decision at {first[id_]['at_ms']} ms")
    return first


def _check_final(jobs: Mapping[str, Row], done: Mapping[str, int], first: Mapping[str, Row], problems: list[str]) -> None:
    """Schedulers that decide once: every job is decided on arrival, and every admitted job completes."""
    for id_ in jobs:
        if id_ not in first:
            problems.append(f"job {id_}: was never decided")
        elif first[id_]["kind"] == "admitted" and id_ not in done:
            problems.append(f"job {id_}: was admitted, but its workers do not finish its work")


def _utility(cluster: Row, job: Row, completion_ms: int) -> float:
    """priority / (1 + exp(sensitivity (duration - target))), duration in slots from the arrival slot to that of completion."""
    if job.get("utility") is None:
        return 0.0
    slot_ms = cluster["slot_ms"]
    duration = max(0, math.ceil(completion_ms / slot_ms) - 1 - math.ceil(job["arrival_ms"] / slot_ms))
    exponent = job["utility"]["sensitivity"] * (duration - job["utility"]["target_slots"])
    return 0.0 if exponent > 700 else job["utility"]["priority"] / (1 + math.exp(exponent))


def _check_explanations(
    cluster: Row, jobs: Mapping[str, Row], done: Mapping[str, int], utilities: Mapping[str, float], decisions: Sequence[Row],
    problems: list[str],
) -> None:  # fmt: skip
    """The numbers of admissions by price agree with the schedule, those of rejections with themselves."""
    for row in decisions:
        code, values, id_ = row["reason"]["code"], row["reason"]["values"], row["job"]
        if code not in ("payoff_positive", "payoff_not_positive") or id_ not in jobs:
            continue
        at = f"decision {row['seq']}: job {id_}"
        if any(number(values.get(name)) is not None for name in ("payoff", "utility", "cost", "finish_slot")):
            problems.append(f"{at}: {code} needs numbers for payoff, utility, cost and finish_slot")
            continue
        if not _same(values["payoff"], values["utility"] - values["cost"], abs(values["utility"]) + abs(values["cost"])):
            problems.append(f"{at}: payoff {values['payoff']!r} is not utility {values['utility']!r} - cost {values['cost']!r}")
        if (values["payoff"] > NO_PAYOFF) != (code == "payoff_positive"):
            problems.append(f"{at}: {code} with a payoff of {values['payoff']!r}")
        if code == "payoff_positive" and id_ in done:
            if values["finish_slot"] != math.ceil(done[id_] / cluster["slot_ms"]) - 1:
                problems.append(
                    f"{at}: says it finishes in slot {values['finish_slot']}, but its last worker stops at {done[id_]} ms"
                )
            if not _same(values["utility"], utilities[id_]):
                problems.append(f"{at}: says its utility is {values['utility']!r}, recomputed {utilities[id_]!r}")


def _figures(
    cluster: Row, jobs: Sequence[Row], demands: Demands, told: Told, done: Mapping[str, int], utilities: Mapping[str, float]
) -> dict[str, Any]:
    """The metrics of summary.json, recomputed from the log."""
    arrivals = {job["id"]: job["arrival_ms"] for job in jobs}
    times = sorted(end - arrivals[id_] for id_, end in done.items())
    kinds = list(told.first.values())
    bars = [bar for plan in told.bars.values() for bar in plan]
    return {
        "total_utility": math.fsum(utilities.values()),
        "jobs": len(jobs),
        "admitted": sum(kind in ("admitted", "started") for kind in kinds),
        "rejected": kinds.count("rejected"),
        "completed": len(done),
        "mean_jct_ms": sum(times) / len(times) if times else None,
        "median_jct_ms": _quantile(times, 0.5),
        "p95_jct_ms": _quantile(times, 0.95),
        "makespan_ms": max(done.values()) - min(arrivals.values()) if done else None,
        "suspensions": _suspensions(bars),
        "utilization": _utilization(cluster, jobs, demands, bars),
    }


def _nested(path: tuple[str, ...], figures: Row) -> dict[tuple[str, ...], Any]:
    """{where a figure stands: figure} of figures within figures."""
    out: dict[tuple[str, ...], Any] = {}
    for name, value in figures.items():
        out |= _nested((*path, name), value) if isinstance(value, dict) else {(*path, name): value}
    return out


def _suspensions(bars: Sequence[Sequence[int]]) -> int:
    """Gaps between the worker bars of a chunk, or of a job without chunks."""
    spans: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for job, role, _, start_ms, end_ms, _, _, chunk, _ in bars:
        if role == 0:
            spans[job, chunk].append((start_ms, end_ms))
    gaps = 0
    for own in spans.values():
        own.sort()
        reached = np.maximum.accumulate([end for _, end in own])
        gaps += int((np.array([start for start, _ in own])[1:] > reached[:-1]).sum())
    return gaps


def _utilization(cluster: Row, jobs: Sequence[Row], demands: Demands, bars: Sequence[Sequence[int]]) -> dict[str, float | None]:
    """Share of capacity x time held, from the first arrival to the end of the last bar."""
    units = [bar for bar in bars if bar[1] < 2 and bar[2] >= 0]
    if not units:
        return dict.fromkeys(AMOUNTS)
    first, last = min(job["arrival_ms"] for job in jobs), max(bar[4] for bar in units)
    offered = [0] * len(AMOUNTS)
    for server in cluster["servers"]:
        gone = sum(max(0, min(end, last) - max(begin, first)) for begin, end in server["away"])
        offered = [
            o + amount * (last - first - gone) for o, amount in zip(offered, _thousandths(server["capacity"]), strict=True)
        ]
    times: dict[tuple[int, int], int] = defaultdict(int)  # count x ms of each job and role
    for job, role, _, start_ms, end_ms, count, *_ in units:
        times[job, role] += count * (end_ms - start_ms)
    used = [sum(ms * demands[jobs[job]["id"], ROLES[role]][r] for (job, role), ms in times.items()) for r in range(len(AMOUNTS))]
    return {name: used[r] / offered[r] if offered[r] else None for r, name in enumerate(AMOUNTS)}


def _check_summary(expected: Row, told: Told, summary: Row, problems: list[str]) -> None:
    for name in ("scheduler", "parameters", "seed"):
        if summary[name] != told.started[name]:
            problems.append(
                f"summary.json: {name} is {shorten(repr(summary[name]))}, but the run of events.jsonl had {shorten(repr(told.started[name]))}"
            )
    metrics = summary["metrics"]
    for path, value in _nested((), expected).items():
        given: Any = metrics
        for key in path:
            given = given.get(key) if isinstance(given, dict) else None
        if (value is None) != (given is None) or (value is not None and not _same(given, value)):
            problems.append(f"summary.json: {'.'.join(path)} is {given!r}, recomputed {value!r}")
    times = summary["decision_ms"]
    if times is not None and not times["p50"] <= times["p95"] <= times["max"]:
        problems.append(f"summary.json: decision_ms must have p50 <= p95 <= max, got {times}")
    if summary["certificate"] is not None:
        _check_certificate(summary["certificate"], expected, problems)


def _check_certificate(certificate: Row, expected: Row, problems: list[str]) -> None:
    """Its form only, and that it is about this run: the bound itself is proved where it was made."""
    achieved, bound, ratio = certificate["achieved"], certificate["bound"], certificate["ratio"]
    about = TIME_BOUNDS.get(certificate["kind"], "utility")
    total = {
        "utility": expected["total_utility"],
        "total completion time": (expected["mean_jct_ms"] or 0) * expected["completed"],
        "makespan": expected["makespan_ms"] if expected["completed"] == expected["jobs"] else achieved,  # of those that completed
    }[about]
    low, high = (achieved, bound) if about == "utility" else (bound, achieved)
    if not _same(achieved, total):
        problems.append(f"summary.json: the certificate is about a {about} of {achieved!r}, and the run earned {total!r}")
    if not 0 <= low <= high * (1 + CLOSE):
        problems.append(f"summary.json: the certificate bounds a {about} of {achieved!r} by {bound!r}")
    elif high > 0 and not abs(ratio - low / high) <= 2e-4:
        problems.append(f"summary.json: the certificate's ratio is {ratio!r}, and {low!r} of {high!r} are {low / high:.6f}")


def _quantile(values: Sequence[float], share: float) -> float | None:
    """Linear between the two nearest of sorted values."""
    if not values:
        return None
    position = share * (len(values) - 1)
    low = int(position)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (position - low)


def _same(given: Any, value: float, size: float = 0.0) -> bool:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return False
    return abs(given - value) <= CLOSE * max(1.0, abs(value), size)


def _integer(text: str) -> int | None:
    """The integer that the text is, None if it is none or out of range."""
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        return None
    value = int(text)
    return value if value <= LARGEST else None


def _thousandths(amounts: Row | None) -> list[int]:
    """Whole units with up to three decimals as exact integers, in the order of AMOUNTS."""
    return [round((amounts or {}).get(name, 0) * 1000) for name in AMOUNTS]


def _plain(text: str) -> str:
    """Without the quote that keeps a spreadsheet from taking text for a formula."""
    return text[1:] if text[:1] == "'" and text.lstrip("'")[:1] in ("=", "+", "-", "@") else text


def _twice(names: Sequence[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
