"""Verifier of a finished output, from its plain rows alone; it shares no code with schedulers, ledger or metrics.

The rows are those of the files (whole units, text ids), as Python values of any shape: their form is checked first
(schema.py), then what they mean. events.jsonl is the source of truth (replay.py): the schedule, the decisions and the
metrics have to follow from it. Every problem is one sentence; an empty list means that nothing is wrong.

The files state the rules by which a scheduler runs jobs (`execution`); names of schedulers decide nothing. Here are the
rules for all runs; those of an execution model are in its own verifier, chosen from the table in by_model.py. Where no
rules are known, that is a problem.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduling.model.limits import MAX_INT
from scheduling.model.values import shorten
from scheduling.verification.by_model import RULES, check_stated, no_rules
from scheduling.verification.capacities import Steps, amounts_at, capacities_of, sizes_of
from scheduling.verification.replay import CLOUD, NOWHERE, ROLES, Outcome, differences, held, replay, unclear
from scheduling.verification.rules import Bar, Output, Row, same
from scheduling.verification.schema import AMOUNTS, check_events, check_inputs, check_results
from scheduling.verification.summary import Demands, check_summary


def verify(
    cluster: Any, jobs: Sequence[Any], schedule: Sequence[Any], decisions: Sequence[Any], events: Iterable[Any],
    summary: Any, installed: Row | None = None, **more: Sequence[Any] | None,
) -> list[str]:  # fmt: skip
    """Problems of an output: first those of its form and, only without these, those of its content.

    installed: the execution of the scheduler of that name where there is one; files of older versions do not state it.
    more: the rows of files that only some models have, by the file's name without its ending.
    """
    problems: list[str] = []
    check_inputs(cluster, jobs, problems)
    check_results(schedule, decisions, summary, problems)
    log = check_events(events, problems)
    if not problems:
        problems += [f"jobs.jsonl: job {id_} occurs more than once" for id_ in _twice([job["id"] for job in jobs])]
        problems += [f"cluster.json: server {name} occurs more than once" for name in _twice(_names(cluster))]
    if not problems:
        check_stated(log, problems)
    if not problems:
        _check_meaning(filled(cluster), jobs, schedule, decisions, log, summary, more, installed, problems)
    return problems


def _check_meaning(
    cluster: Row, jobs: Sequence[Row], schedule: Sequence[Row], decisions: Sequence[Row], log: Sequence[Row],
    summary: Row, more: Mapping[str, Sequence[Any] | None], installed: Row | None, problems: list[str],
) -> None:  # fmt: skip
    execution = _execution(summary, installed, problems)
    if execution is None:
        return
    rules = RULES[execution["model"]]
    by_id = {job["id"]: job for job in jobs}
    servers = {server["name"]: server for server in cluster["servers"]}
    outcome = replay(cluster, jobs, log, problems)
    bars = _bars(cluster, by_id, servers, rules.roles, schedule, problems)
    _check_schedule(cluster, jobs, outcome, bars, problems)
    _check_decision_rows(jobs, outcome, decisions, problems)
    per_job = _per_job(by_id, bars, problems)
    demands = {(id_, role): sizes_of(job, role) for id_, job in by_id.items() for role in rules.roles}
    capacities = dict(zip(servers, capacities_of(cluster, outcome), strict=True))
    _check_capacity(servers, capacities, demands, bars, execution["packs"], problems)
    done = {jobs[index]["id"]: at_ms for index, (at_ms, _) in outcome.completed.items()}
    utilities = {id_: utility_of(cluster, by_id[id_], end) for id_, end in done.items()}
    given = Output(cluster, jobs, per_job, decisions, log, outcome, done, utilities, execution, summary, more)
    rules.check(given, problems)
    first = _check_decisions(by_id, per_job, decisions, problems)
    believed = "beliefs" in outcome.started  # then an admitted job may outlive its plan, and be rejected
    if execution["final"] and not believed and rules.finishes(cluster):
        _check_final(by_id, done, first, problems)
    _check_utilities(given, problems)
    check_summary(given, demands, problems)


def _names(cluster: Row) -> list[str]:
    return [server["name"] for server in cluster["servers"]]


def filled(cluster: Row) -> Row:
    """The cluster with every key that may be left out."""
    servers = [
        {**server, "roles": server.get("roles") or ["worker", "ps"], "away": server.get("away") or []}
        for server in cluster["servers"]
    ]
    return {"horizon_slots": None, "cloud": None, **cluster, "servers": servers}


def _execution(summary: Row, installed: Row | None, problems: list[str]) -> Row | None:
    """Rules by which the run is rechecked; None, with a problem, where there are none."""
    stated, name = summary.get("execution"), shorten(repr(summary["scheduler"]))
    found = stated or installed
    if found is None:
        problems.append(
            f"summary.json does not state the execution of scheduler {name}, and no scheduler of this name is "
            "installed: capacity and work "
            "cannot be verified; install the scheduler, or simulate again"
        )
        return None
    if stated and installed and stated != installed:
        wrong = next(key for key in (*stated, *installed) if stated.get(key) != installed.get(key))
        problems.append(
            f"summary.json: execution.{wrong} is {stated.get(wrong)!r}, but scheduler {name} has "
            f"{installed.get(wrong)!r} on this cluster"
        )
    if problem := no_rules(found, summary["parameters"]):
        problems.append(f"summary.json: execution of scheduler {name}: {problem}")
        return None
    return found


def _bars(
    cluster: Row, jobs: Mapping[str, Row], servers: Mapping[str, Row], roles: Sequence[str], rows: Sequence[Row],
    problems: list[str],
) -> list[Bar]:  # fmt: skip
    """Well-formed rows; the others become problems."""
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
        if role not in roles:
            wrong.append(f"role must be {', '.join(roles[:-1])} or {roles[-1]}, got {shorten(repr(role))}")
        if name == "cloud":
            if not cluster.get("cloud"):
                wrong.append("the cluster has no unlimited cloud")
        elif name not in servers and (name or not row["group"]):
            wrong.append(f"unknown server {shorten(repr(name))}")
        elif name and role in ("worker", "ps") and role not in servers[name]["roles"]:
            wrong.append(f"server {name} does not accept the role {role}")
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


def _check_schedule(
    cluster: Row, jobs: Sequence[Row], outcome: Outcome, bars: Sequence[Bar], problems: list[str]
) -> None:
    """Check that schedule.csv agrees with the log."""
    names = {NOWHERE: "", CLOUD: "cloud"} | dict(enumerate(_names(cluster)))
    log = held(
        (
            jobs[job]["id"],
            ROLES[role],
            names[server],
            *(str(n) if n >= 0 else "" for n in (worker_slot, chunk, group)),
            count,
            start_ms,
            end_ms,
        )
        for plan in outcome.bars.values()
        for job, role, server, start_ms, end_ms, count, worker_slot, chunk, group in plan
    )
    rows = held((b.job, b.role, b.server, b.worker_slot, b.chunk, b.group, b.count, b.start_ms, b.end_ms) for b in bars)
    problems += differences(log, rows)


def _check_decision_rows(jobs: Sequence[Row], outcome: Outcome, decisions: Sequence[Row], problems: list[str]) -> None:
    """Check that decisions.jsonl agrees with the decisions of the log, line by line."""
    for line, (event, row) in enumerate(zip(outcome.decisions, decisions, strict=False), start=1):
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
                    f"decisions.jsonl: line {line}: {name} is {shorten(repr(row[name]))}, but {shorten(repr(value))} "
                    "in events.jsonl"
                )
    if len(outcome.decisions) != len(decisions):
        problems.append(
            f"decisions.jsonl has {len(decisions):,} decisions, but events.jsonl has {len(outcome.decisions):,}"
        )


def _per_job(jobs: Mapping[str, Row], bars: Sequence[Bar], problems: list[str]) -> dict[str, list[Bar]]:
    """Bars of each job; none is before its arrival."""
    found: dict[str, list[Bar]] = defaultdict(list)
    for bar in bars:
        found[bar.job].append(bar)
        if bar.start_ms < jobs[bar.job]["arrival_ms"]:
            problems.append(
                f"job {bar.job}: {bar.role} on {bar.server} in [{bar.start_ms}, {bar.end_ms}) ms starts before the "
                f"arrival at {jobs[bar.job]['arrival_ms']} ms"
            )
    return found


def _check_capacity(
    servers: Mapping[str, Row], capacities: Mapping[str, Steps], demands: Demands, bars: Sequence[Bar],
    packs: Sequence[str], problems: list[str],
) -> None:  # fmt: skip
    """Check that no server exceeds its capacity whenever a bar begins, in exact integers.

    The capacity of a real server may become less than what jobs hold of it.
    """
    counted = [r for r, name in enumerate(AMOUNTS) if name in packs]
    changing: dict[str, list[tuple[int, int, list[int]]]] = defaultdict(list)
    for bar in bars:
        if bar.server in servers and bar.role != "transfer":
            amounts = [bar.count * amount for amount in amounts_at(demands[bar.job, bar.role], bar.start_ms)]
            changing[bar.server] += [(bar.start_ms, 1, amounts), (bar.end_ms, -1, amounts)]
            for begin, end in servers[bar.server]["away"]:
                if bar.start_ms < end and bar.end_ms > begin and any(amounts[r] for r in counted):
                    problems.append(
                        f"server {bar.server} is unavailable from {begin} to {end} ms, but runs job {bar.job} "
                        "in this interval"
                    )
    for name, changes in changing.items():
        changes.sort(key=lambda change: change[:2])  # at one time, ends go first
        total = [0] * len(AMOUNTS)
        full: set[int] = set()
        for at_ms, sign, amounts in changes:
            total = [t + sign * a for t, a in zip(total, amounts, strict=True)]
            capacity = amounts_at(capacities[name], at_ms)
            for r in counted:
                if sign > 0 and total[r] > capacity[r] and r not in full:
                    full.add(r)
                    problems.append(
                        f"server {name} holds {total[r] / 1000:g} of {capacity[r] / 1000:g} {AMOUNTS[r]} "
                        f"from {at_ms} ms"
                    )


def _check_decisions(
    jobs: Mapping[str, Row], per_job: Mapping[str, Sequence[Bar]], decisions: Sequence[Row], problems: list[str]
) -> dict[str, Row]:
    """First decision of each job; it comes after the arrival and not after the first bar."""
    first: dict[str, Row] = {}
    before = 0
    for row in decisions:
        if row["job"] not in jobs:
            problems.append(f"decision {row['seq']}: unknown job {shorten(repr(row['job']))}")
            continue
        if row["seq"] <= before:
            problems.append(f"decision {row['seq']} comes after decision {before}")
        before = row["seq"]
        if (broken := unclear(row["reason"]["code"], row["reason"]["values"], ())) is not None:
            problems.append(f"decision {row['seq']}: {broken}")
        if row["at_ms"] < jobs[row["job"]]["arrival_ms"]:
            problems.append(f"decision {row['seq']}: job {row['job']} had not arrived at {row['at_ms']} ms")
        first.setdefault(row["job"], row)
    for id_, bars in per_job.items():
        start_ms = min(bar.start_ms for bar in bars)
        if id_ not in first:
            problems.append(f"job {id_} runs without a decision")
        elif first[id_]["kind"] == "rejected":
            problems.append(f"job {id_} runs although it was rejected")
        elif first[id_]["at_ms"] > start_ms:
            problems.append(f"job {id_} starts at {start_ms} ms, before its first decision at {first[id_]['at_ms']} ms")
    return first


def _check_final(
    jobs: Mapping[str, Row], done: Mapping[str, int], first: Mapping[str, Row], problems: list[str]
) -> None:
    """Check of schedulers with final decisions: every job is decided on arrival, and every admitted job completes."""
    for id_ in jobs:
        if id_ not in first:
            problems.append(f"job {id_} has no decision")
        elif first[id_]["kind"] == "admitted" and id_ not in done:
            problems.append(f"job {id_} was admitted, but its workers do not finish its work")


def _check_utilities(given: Output, problems: list[str]) -> None:
    """Check of the utility that the log states for each completed job."""
    for index, (_, utility) in given.outcome.completed.items():
        id_ = given.jobs[index]["id"]
        if not same(utility, given.utilities[id_]):
            problems.append(
                f"events.jsonl: job {id_} completes with a utility of {utility!r}, recomputed {given.utilities[id_]!r}"
            )


def utility_of(cluster: Row, job: Row, completion_ms: int) -> float:
    """priority / (1 + exp(sensitivity (duration - target))), in slots from that of arrival to that of completion."""
    if job.get("utility") is None:
        return 0.0
    slot_ms = cluster["slot_ms"]
    duration = max(0, math.ceil(completion_ms / slot_ms) - 1 - math.ceil(job["arrival_ms"] / slot_ms))
    exponent = job["utility"]["sensitivity"] * (duration - job["utility"]["target_slots"])
    return 0.0 if exponent > 700 else job["utility"]["priority"] / (1 + math.exp(exponent))


def _integer(text: str) -> int | None:
    """Integer of the text, None if it is none or out of range."""
    if not (text.isascii() and text.isdigit() and len(text) <= 16):
        return None
    value = int(text)
    return value if value <= MAX_INT else None


def _plain(text: str) -> str:
    """Text without the quote that keeps a spreadsheet from reading it as a formula."""
    return text[1:] if text[:1] == "'" and text.lstrip("'")[:1] in ("=", "+", "-", "@") else text


def _twice(names: Sequence[str]) -> list[str]:
    """Names that occur more than once, in alphabetical order."""
    return sorted(name for name, count in Counter(names).items() if count > 1)
