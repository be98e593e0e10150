"""The stored cluster and trace of a cut, and what they take from the real cluster in sentences."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256

import orjson

from scheduling.model.limits import MAX_INT
from scheduling.model.provenance import ACTUAL, ASSUMED, LIMIT, PREDICTED, SAMPLED
from scheduling.reporting.job_fields import TITLES
from scheduling.reporting.quantities import counted, duration
from twin.files.cluster_json import cluster_to_dict
from twin.files.jobs_jsonl import job_to_dict
from twin.files.packed_jobs import pack_jobs
from twin.mirror.whatif.cut import ARRIVING, LEFT_OUT, RUNNING, WAITING, Cut
from twin.mirror.whatif.moments import Made
from twin.models import ClusterSpec, Scenario, Trace
from twin.traces.importing.report import Origins

FORMAT = "cut of a mirrored run"
PREVIEW = 20  # jobs that the trace's page shows
MAX_NAMED = 10  # draining nodes
ORIGIN_TEXTS = {ACTUAL: "actual", LIMIT: "from the time limit", ASSUMED: "assumed", PREDICTED: "predicted"}


def inputs_of(found: Made) -> tuple[Trace, ClusterSpec]:
    """The stored trace and cluster of the cut."""
    run, at_ms = found.moment.run, found.cut.at_ms
    work = [[part.known.index, part.run_ms] for part in found.cut.parts]
    key = [run.pk, run.last_seq, at_ms, asdict(found.choice), cluster_to_dict(found.cluster), work]
    key += [found.purpose] if found.purpose else []
    checksum = sha256(orjson.dumps(key)).hexdigest()
    trace = Trace.objects.filter(checksum=checksum, format=FORMAT, status=Trace.READY).first()
    spec = trace.clusters.first() if trace is not None else None
    if trace is not None and spec is not None:
        return trace, spec
    at, jobs, servers = run.moment(at_ms), len(found.table), len(found.cluster.servers)
    report = {
        "format": FORMAT,
        "rows": jobs + found.cut.left_out.total(),
        "imported": jobs,
        "jobs": jobs,
        "servers": servers,
        "skipped": [],
        "skipped_counts": dict(found.cut.left_out),
        "provenance": _provenance(found),
        "outside_range": {},
        "notes": [*sentences(found), slot_sentence(found.cluster.slot_ms)],
        "slot_ms": found.cluster.slot_ms,
        "seed": 0,
        "cut": {"run": run.pk, "trace": run.scenario.trace_id, "at_ms": at_ms},
        "merged": 0,
        "not_selected": 0,
        "summary": f"{counted(jobs, 'job')} cut from run {run.pk}, {found.cut.left_out.total():,} left out",
    }
    trace = Trace.objects.create(
        name=f"{run.scenario.name} at {at}"[:200],
        format=FORMAT,
        team_id=run.scenario.team_id,
        status=Trace.READY,
        progress=1,
        began_at=run.began_at,
        job_count=jobs,
        server_count=servers,
        checksum=checksum,
        jobs=pack_jobs([found.table]),
        report=report,
        preview=[job_to_dict(job) for job in found.table.take(slice(0, PREVIEW)).jobs()],
    )
    spec = ClusterSpec.objects.create(
        name=found.cluster.name,
        source=f"run {run.pk} at {at}",
        trace=trace,
        spec=cluster_to_dict(found.cluster),
        server_count=servers,
    )
    return trace, spec


def drop_unused(trace: Trace, spec: ClusterSpec) -> None:
    """Removal of the inputs of a discarded fork that no other scenario uses."""
    if trace.format == FORMAT and not Scenario.objects.filter(trace=trace).exists():
        if not Scenario.objects.filter(cluster=spec).exists():
            spec.delete()
        trace.delete()


def sentences(found: Made) -> list[str]:
    """Notes for users on the content and the assumptions of a cut."""
    of, at = found.cut, found.moment.run.moment(found.cut.at_ms)
    parts = [f"{counted(of.count(RUNNING), 'running job')}, {counted(of.count(WAITING), 'waiting job')}"]
    if found.choice.arrivals:
        parts.append(f"{counted(of.count(ARRIVING), 'job')} that arrived later")
    nodes = f"{counted(len(of.servers), 'node')}{_away(of)}"
    notes = [f"Cut from run {found.moment.run.pk} at {at}: {nodes}; {', '.join(parts)}."]
    if draining := found.moment.draining:
        named = ", ".join(draining[:MAX_NAMED]) + (
            f" and {len(draining) - MAX_NAMED:,} more" * (len(draining) > MAX_NAMED)
        )
        notes.append(f"Draining at {at}: {named}. The cluster places no new job there; the cut does.")
    if of.count(RUNNING):
        notes.append(
            f"Jobs that were running at {at} arrive first, with their remaining work, and are placed again on any "
            "node. A copy of such a job that an edit adds has that work, too."
        )
    origins = {origin: sum(part.origin == origin for part in of.parts) for origin in ORIGIN_TEXTS}
    shares = [f"{ORIGIN_TEXTS[origin]} for {counted(number, 'job')}" for origin, number in origins.items() if number]
    if shares:
        limit = f" ({duration(found.choice.assumed_ms)})" if origins[ASSUMED] else ""
        notes.append(f"Durations: {', '.join(shares)}{limit}.")
    sampled = [TITLES[field].lower() for field, counts in _provenance(found).items() if SAMPLED in counts]
    if sampled:
        notes.append(f"Sampled, because the cluster does not state them: {', '.join(sampled)}.")
    if of.left_out:
        kinds = [f"{of.left_out[why]:,} {words}" for why, words in LEFT_OUT.items() if of.left_out[why]]
        notes.append(f"Jobs not included: {'; '.join(kinds)}.")
    return notes


def slot_sentence(slot_ms: int) -> str:
    """Note on what slots do to jobs of a real cluster, whose times do not fall on their boundaries."""
    return (
        f"Slots are {duration(slot_ms)} long: a slotted scheduler starts jobs only when a slot begins, and a job holds "
        "its resources to the end of a slot."
    )


def _provenance(found: Made) -> dict[str, dict[str, int]]:
    """Number of jobs by field and origin."""
    origins = Origins()
    origins.add(found.table)
    return origins.plain()


def _away(of: Cut) -> str:
    """Clause about the nodes that are unavailable for good from the cut on, and those with other outages."""
    away = [server.away for server in of.servers if server.away]
    never = sum(spans[0][0] <= of.at_ms and spans[0][1] == MAX_INT for spans in away)
    parts = [(never, "unavailable from then on"), (len(away) - never, "unavailable at times")]
    return "".join(f", {number} of them {words}" for number, words in parts if number)
