"""Preview of a job on a real cluster: its outcome if it arrived at a mirrored run now. Nothing is kept.

The cluster as it is now is cut as for a fork (mirror/whatif) and continued by a scheduler of the twin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import Job, ModelError
from scheduling.reporting.quantities import counted
from scheduling.slotted.reasons import since_arrival
from twin.files.jobs_jsonl import job_to_dict
from twin.files.stored_jobs import StoredJobs, objects_of
from twin.infra.errors import Refused
from twin.mirror.whatif import cut, forking, inputs, jobs, moments
from twin.mirror.whatif.moments import Made
from twin.models import Run
from twin.studies.ask import arriving, changed, compare_futures, name_for

RUN_MS = "run_ms"  # how long the job runs: not a field of a job, whose work follows from it


def ask(run: Run, like: str, changes: Mapping[str, Any], scheduler: str = "") -> dict[str, Any]:
    """The answer of studies.ask.ask, with `notes`: what is believed about the cluster.

    like: id of a job of the mirror, with the duration that a cut would believe; changes: other fields, or run_ms.
    """
    if run.status not in Run.ACTIVE:
        raise Refused(f"run {run.pk} is {run.status}; choose the run in which the cluster is followed now")
    found = moments.made(moments.moment_of(run), cut.Choice())
    name, given = (scheduler, {}) if scheduler else (forking.SCHEDULER, forking.PARAMETERS)
    build(name, given).check(found.cluster)
    job = _job(found, like, dict(changes))
    others = list(objects_of(StoredJobs(found.table)))

    def future(all_jobs: list[Job]) -> Simulation:
        return Simulation(found.cluster, all_jobs, build(name, given), jobs.SEED)

    servers = [server.name for server in found.cluster.servers]
    answer = compare_futures(job, servers, future([*others, job]), future(others))
    title = build(name, given).title
    believed = [f"Answered by {title}.", *inputs.sentences(found), inputs.slot_sentence(found.cluster.slot_ms)]
    told = {"sentence": _sentence(answer, title, job.arrival_ms)}
    return answer | told | {"at_ms": found.cut.at_ms, "counterfactuals": [], "notes": believed}


def _sentence(answer: Mapping[str, Any], title: str, arrival_ms: int) -> str:
    """Sentence on what that scheduler would do. It omits parameter servers, which the real job does not have."""
    if answer["verdict"] == "rejected":
        return str(answer["sentence"]).replace("Rejected", f"{title} would reject it", 1)
    if answer["start_ms"] is None:
        return ""
    with_workers = f" with at most {counted(answer['workers'], 'worker')}" if answer["workers"] else ""
    return f"{title} would start it {since_arrival(answer['start_ms'] - arrival_ms)}{with_workers}."


def _job(found: Made, like: str, changes: dict[str, Any]) -> Job:
    """The job that arrives a moment after those of the cut; ModelError for what no job can be."""
    of, at_ms = found.moment, found.cut.at_ms
    run_ms = changes.pop(RUN_MS, None)
    if run_ms is not None and not (isinstance(run_ms, int) and not isinstance(run_ms, bool) and run_ms >= 1):
        raise ModelError(f"{RUN_MS} must be a whole number of ms from 1 on, got {run_ms!r}")
    given: dict[str, Any] = {}
    if like:
        known = next((job for job in of.mirror.jobs if job.name == like), None)
        if known is None:
            raise ModelError(f"run {of.run.pk} has no job {like!r}; choose one of its jobs, or give all fields")
        part = cut.one(of.mirror, known, at_ms, found.choice)
        part = part if run_ms is None else part._replace(run_ms=run_ms)
        given = job_to_dict(jobs.job_of(part, found.cluster.slot_ms))
    elif run_ms is not None:
        raise ModelError(f"{RUN_MS} applies to a copy of a job; name the job to copy, or give all fields of a job")
    name = name_for({job.name for job in of.mirror.jobs})
    return replace(arriving(given | changed(given, changes, [RUN_MS]), name, at_ms + 1), provenance={})
