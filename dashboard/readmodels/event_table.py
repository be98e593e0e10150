"""Table of a run's events: filtered by the server, newest first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from dashboard.query import number
from scheduling.kernel.plan_scopes import scope_of
from scheduling.model.values import Job, ModelError, shorten
from scheduling.reporting.quantities import counted, duration
from scheduling.reporting.reasons import readable
from scheduling.verification.schema import VERDICTS
from twin.eventlog import event_log
from twin.eventlog.batch_codec import log_of, may_hold, read
from twin.eventlog.fold import SUSPENDED, WAITS
from twin.files.stored_jobs import some_of
from twin.models import Run
from twin.moments import moment
from twin.scenarios import store

EVENT_TYPES = (
    "run_started",
    "job_arrived",
    "decided",
    "plan_changed",
    "job_completed",
    "priced",
    "job_added",
    "job_set",
    "gap",
    "reserved",
    "suspensions_set",
    "sampled",
    "server_added",
    "server_set",
    "server_changed",
    "grouped",
    "regrouped",
    "edited",
    "run_finished",
)
DECISIONS = (*VERDICTS, WAITS, SUSPENDED)  # what is decided about a job, in simulated runs and by real clusters
CAUSES = {"machines": "a change of machines", "round": "a round"}  # of regroupings; others are words already
MAX_ROWS = 500
MAX_READ = 400  # batches that one answer searches


def page(run: Run, asked: Mapping[str, str]) -> dict[str, Any]:
    """{rows, next, total}: events before `before` (a seq) that match, the newest first.

    asked: kind, decision (kind of a decision), code, job (index), before, until_ms (not after this time), size. next:
    the `before` of the next page; None at the beginning of the log. A page may hold fewer rows than asked for, even
    none, where matches are rare; `next` then continues.
    """
    size = number(asked, "size", 50, 1, MAX_ROWS)
    before = min(number(asked, "before", run.last_seq + 1, 1, 2**53), run.last_seq + 1)
    until_ms = number(asked, "until_ms", 0, 0, 2**62) if asked.get("until_ms") else None
    wanted = {name: asked[name] for name in ("kind", "decision", "code") if asked.get(name)}
    if wanted.get("kind", EVENT_TYPES[0]) not in EVENT_TYPES:
        raise ModelError(f"kind must be one of {', '.join(EVENT_TYPES)}, got {shorten(repr(wanted['kind']))}")
    cluster, jobs = store.of_run(run)
    job = number(asked, "job", 0, 0, max(0, len(jobs) - 1)) if asked.get("job") else None
    if wanted.get("decision", DECISIONS[0]) not in DECISIONS:
        raise ModelError(f"decision must be one of {', '.join(DECISIONS)}, got {shorten(repr(wanted['decision']))}")
    servers = [server.name for server in cluster.servers]
    found: list[tuple[int, int, str, Any]] = []
    for seq, at_ms, kind, data in _backwards(run, before, until_ms, wanted.values(), job):
        before = seq
        if kind is None or not _fits(kind, data, wanted, job):
            continue
        found.append((seq, at_ms, kind, data))
        if len(found) == size:
            break
    return {"rows": _rows(found, servers, jobs), "next": before if before > 1 else None, "total": run.last_seq}


def _rows(found: Sequence[tuple[int, int, str, Any]], servers: list[str], jobs: Sequence[Job]) -> list[dict[str, Any]]:
    """Rows of the table, with the jobs of all of them made together."""
    about = [_about(kind, data) for _, _, kind, data in found]
    named = sorted({index for index in about if index is not None})
    known = dict(zip(named, some_of(jobs, named), strict=True))
    return [
        {
            "seq": seq, "at_ms": at_ms, "kind": kind, "job": index, "id": None if index is None else known[index].id,
            "text": _text(kind, data, servers, None if index is None else known[index]),
        } for (seq, at_ms, kind, data), index in zip(found, about, strict=True)
    ]  # fmt: skip


def _backwards(
    run: Run, before: int, until_ms: int | None, words: Collection[str], job: int | None
) -> Iterator[tuple[int, int, str | None, Any]]:
    """Events before `before`, newest first, of batches that may hold what is searched; at the end of the search, one
    without a kind.
    """
    batches = run.batches.filter(first_seq__lt=before).order_by("-first_seq")
    if until_ms is not None:
        batches = batches.filter(first_ms__lte=until_ms)
    oldest = before
    for first_seq, payload in batches.values_list("first_seq", "payload")[:MAX_READ].iterator(chunk_size=10):
        oldest = first_seq
        if not may_hold(payload, words, job):
            continue
        with log_of(run.pk):
            lines, _ = read(payload)
        for seq, at_ms, kind, data in reversed(lines):
            if seq < before and (until_ms is None or at_ms <= until_ms):
                yield seq, at_ms, kind, data
    yield oldest, 0, None, {}


def payoffs(run: Run, after: int) -> dict[str, Any]:
    """{last_seq, rows: [[job, payoff]]}: of the decisions after the event `after` that state one, in order. The latest
    of a job counts.
    """
    decided = event_log.lines_of(run.pk, ("decided",), after)
    rows = [
        [data["job"], float(f"{data['values']['payoff']:.6g}")] for *_, data in decided if "payoff" in data["values"]
    ]
    return {"last_seq": run.last_seq, "rows": rows}


def _fits(kind: str, data: Mapping[str, Any], wanted: Mapping[str, str], job: int | None) -> bool:
    if (
        job is not None
        and data.get("job") != job
        and not (kind == "plan_changed" and job in (planned for planned, _, _ in data["jobs"]))
    ):
        return False
    if "kind" in wanted and kind != wanted["kind"]:
        return False
    if "decision" in wanted and (kind != "decided" or data["kind"] != wanted["decision"]):
        return False
    return "code" not in wanted or data.get("code") == wanted["code"]


def _text(kind: str, data: Mapping[str, Any], servers: list[str], job: Job | None) -> str:
    """Event as a sentence."""
    if kind == "decided":
        sentence = readable(data["code"], data["values"], servers)
        return _decision_text(data["kind"], sentence)
    if kind == "plan_changed":
        return _plan_text(data)
    if kind == "grouped":
        if not data["jobs"]:
            return f"group {data['group']} ended"
        return (
            f"group {data['group']}: {counted(len(data['jobs']), 'job')} on {counted(data['machines'], 'machine')}, "
            f"CPU {_percent(data['cpu_utilization'])}, network {_percent(data['net_utilization'])}"
        )
    if kind == "regrouped":
        (cpu, net), (new_cpu, new_net) = data["before"], data["after"]
        return (
            f"regrouped after {CAUSES.get(data['cause'], data['cause'])}: CPU {_percent(cpu)} "
            f"to {_percent(new_cpu)}, network {_percent(net)} to {_percent(new_net)}, "
            f"{counted(len(data['jobs']), 'job')} affected"
        )
    if kind == "edited":
        return (
            f"{'. '.join(data['said'])}. {counted(data['kept'], 'plan')} kept, "
            f"{counted(len(data['displaced']), 'job')} displaced"
        )
    if kind in ("server_added", "server_set"):
        states = ", ".join(data[name] for name in ("state", "reason") if data.get(name))
        name = data["fields"]["name"]
        changed = "added" if kind == "server_added" else "changed"
        if kind == "server_set" and "since_ms" in data:  # of a real cluster, which said so later
            changed += f" at {moment(data['since_ms'] // 1_000 * 1_000)}"
        return f"server {name} {changed}" + (f": {states}" if states else "")
    if kind == "gap":
        return f"no poll of the cluster for {duration(data['to_ms'] - data['from_ms'])}: {data['reason']}"
    if kind == "reserved":
        return _reservation_text(data)
    if kind == "suspensions_set":
        return _suspensions_text(data["spans"])
    if kind == "sampled":
        return f"samples of {counted(len(data['rows']), 'server')}"
    if kind == "job_set":
        return _changed_text(data["fields"])
    if kind == "server_changed":
        became = "unavailable" if data["away"] else "available"
        if "since_ms" in data:  # of a real cluster, which said so later
            return (
                f"server {servers[data['server']]} has been {became} since {moment(data['since_ms'] // 1_000 * 1_000)}"
            )
        return f"server {servers[data['server']]} becomes {became}"
    if kind == "job_completed":
        if "ended_ms" in data:  # of a real cluster, in whatever way; the decision beside it says which
            return "ended"
        return (
            f"completed with utility {utility_text(data['utility'])}"
            if job is not None and job.utility is not None
            else "completed"
        )
    if kind == "priced":
        return "prices of all slots" if data["slots"] == "all" else f"prices of {counted(len(data['slots']), 'slot')}"
    return kind.replace("_", " ")


def utility_text(utility: float) -> str:
    """A utility as people read it: one of a late job can be 1e-158."""
    return "≈ 0" if 0 < abs(utility) < 0.0001 else f"{utility:.4g}"


def _decision_text(kind: str, sentence: str) -> str:
    """The kind and the sentence, as the drawer of the job shows them (leadOf in static/js/run/drawer/job-drawer.js)."""
    kind = {"waits": "waiting", "paused": "suspended"}.get(kind, kind)
    if re.match("[^:.]{1,24}:", sentence) or sentence.lower().startswith(kind):
        return sentence
    return f"{kind.capitalize()}. {sentence}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _changed_text(fields: Mapping[str, Any]) -> str:
    """Request of a job of a live cluster from now on; the event does not contain the former one."""
    workers, limit_ms = fields.get("requested_workers"), fields.get("limit_ms")
    parts = [counted(workers, "worker")] if workers else []
    parts += [f"time limit {duration(limit_ms)}"] if limit_ms else []
    return f"request changed, now: {', '.join(parts) or 'no workers and no time limit'}"


def _suspensions_text(spans: list[list[int]]) -> str:
    """Suspensions that a live cluster states, the latest in full."""
    if not spans:
        return "never suspended"
    from_ms, until_ms = spans[-1]
    since, until = (moment(ms // 1_000 * 1_000) for ms in (from_ms, until_ms))
    latest = f"suspended since {since}" if until_ms < 0 else f"suspended from {since} to {until}"
    return latest if len(spans) == 1 else f"{latest}; suspended {len(spans):,} times in all"


def _reservation_text(data: Mapping[str, Any]) -> str:
    what = f"{'maintenance' if data['maintenance'] else 'reservation'} {data['name']}"
    if data["until_ms"] <= data["from_ms"]:
        return f"{what} withdrawn"
    return f"{what} of {counted(len(data['servers']), 'server')} for {duration(data['until_ms'] - data['from_ms'])}"


def _plan_text(data: Mapping[str, Any]) -> str:
    bars = data["bars"].length
    scope = scope_of(data)
    if scope.of_workers:
        return f"plan of {counted(len(data['keys']), 'worker')} with {counted(bars, 'bar')}"
    if scope.restates:
        return f"executions known so far: {counted(bars, 'bar')}"
    return f"plan with {counted(bars, 'bar')}" if bars else "plan removed"


def _about(kind: str, data: Mapping[str, Any]) -> int | None:
    """Job of the event."""
    if kind == "plan_changed":
        return data["keys"][0] if not scope_of(data).of_workers and len(data["keys"]) == 1 else None
    return data.get("job")
