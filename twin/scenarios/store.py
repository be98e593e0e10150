"""Conversion of stored scenarios to the values of a simulation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import orjson

from scheduling.kernel.beliefs.belief import Beliefs
from scheduling.kernel.changes.phases import Phase
from scheduling.kernel.simulation import Simulation
from scheduling.model.values import RESOURCES, Cluster, Job, ModelError
from twin.eventlog import additions
from twin.files.cluster_json import cluster_from_dict, cluster_to_dict
from twin.files.job_fields import uploads_off
from twin.files.job_table import JobTable
from twin.files.jobs_jsonl import job_to_dict
from twin.files.packed_jobs import pack_jobs, unpack_jobs
from twin.files.stored_jobs import StoredJobs, objects_of
from twin.infra.kept import KEPT
from twin.models import ClusterSpec, Run, Scenario, Trace
from twin.scenarios import beliefs, phase_rules
from twin.scenarios.edits import Stage, parse, phases, plain
from twin.scenarios.edits.base import ScenarioState
from twin.scenarios.phase_rules import scheduler_of

NO_EDITS = b"[]"


def simulation(run: Run) -> Simulation:
    """A fresh simulation of the run, before its first event."""
    return played(stages_of(run.scenario, run.edits), run.scenario.seed, beliefs.of_scenario(run.scenario))


def played(stages: Sequence[Stage], seed: int, believed: Beliefs | None = None) -> Simulation:
    """Simulation of consecutive stages."""
    first = stages[0].state
    later = [
        Phase(at_ms, state.cluster, objects_of(state.jobs), scheduler_of(state), sentences)
        for at_ms, state, sentences in stages[1:]
    ]
    return Simulation(first.cluster, objects_of(first.jobs), scheduler_of(first), seed, later, beliefs=believed)


def of_run(run: Run) -> tuple[Cluster, Sequence[Job]]:
    """Cluster and jobs of a run, as its edits leave them: jobs and servers are numbered as in its events."""
    if run.mode_rules.inputs_in_log:
        return additions.of_run(run)
    state = stages_of(run.scenario, run.edits)[-1].state
    return state.cluster, state.jobs


def clusters(run: Run) -> list[tuple[int, Cluster]]:
    """Clusters of the run with their start times, in order."""
    if run.mode_rules.inputs_in_log:
        return additions.clusters(run)
    return [(stage.at_ms, stage.state.cluster) for stage in stages_of(run.scenario, run.edits)]


def packed(run: Run, at_ms: int | None = None) -> list[str]:
    """Limited resources under every scheduler of the run, or under the one at a given time.

    Others have no utilization.
    """
    limits = _limits(run, at_ms)
    return [name for name in RESOURCES if limits and all(name in each for each in limits)]


def packed_by_phase(run: Run) -> list[tuple[int, tuple[str, ...]]]:
    """(start in ms, limited resources) of each phase of the run."""
    stages = stages_of(run.scenario, run.edits)
    return [(stage.at_ms, own) for stage, own in zip(stages, _limits(run), strict=True)]


def packed_since(run: Run, since_ms: int, at_ms: int) -> list[str]:
    """Limited resources under the scheduler at at_ms, without those that one in charge after since_ms did not limit."""
    # typed workers and co-location have other measures
    others = [own.packs for own in phase_rules.of_stages(run, _earlier(run, since_ms, at_ms)) if own.packs]
    return [name for name in packed(run, at_ms) if all(name in each for each in others)]


def typed_since(run: Run, since_ms: int, at_ms: int) -> bool:
    """True if a scheduler of typed workers was in charge after since_ms, before the one at at_ms."""
    stages = _earlier(run, since_ms, at_ms)
    rules = phase_rules.of_stages(run, stages)
    counted = (own.model.worker_slots(stage.state.cluster) for own, stage in zip(rules, stages, strict=True))
    return any(slots is not None for slots in counted)


def _earlier(run: Run, since_ms: int, at_ms: int) -> list[Stage]:
    """Stages that ended after since_ms and up to at_ms."""
    begun = [stage for stage in stages_of(run.scenario, run.edits) if stage.at_ms <= at_ms]
    return [stage for stage, after in pairwise(begun) if after.at_ms > since_ms]


def packed_where_any(run: Run) -> list[str]:
    """Limited resources of the schedulers that allocate resources: what charts show in their phases.

    Typed workers and co-location have other measures.
    """
    limits = [each for each in _limits(run) if each]
    return [name for name in RESOURCES if limits and all(name in each for each in limits)]


def worker_slots_at(run: Run, cluster: Cluster, at_ms: int) -> np.ndarray | None:
    """[server] typed workers and parameter servers, if the model in charge at that time counts them."""
    return phase_rules.of_stages(run, _stages(run, at_ms))[-1].model.worker_slots(cluster)


def _stages(run: Run, at_ms: int | None) -> list[Stage]:
    """Stages of the run, or only the one at a given time."""
    stages = stages_of(run.scenario, run.edits)
    return stages if at_ms is None else [stage for stage in stages if stage.at_ms <= at_ms][-1:] or stages[:1]


def _limits(run: Run, at_ms: int | None = None) -> list[tuple[str, ...]]:
    return [own.packs for own in phase_rules.of_stages(run, _stages(run, at_ms))]


def check(scenario: Scenario, edits: Sequence[Any]) -> list[Stage]:
    """Stages as by `stages_of`, after a check that each scheduler can run on its cluster and that the upload times, if
    it uses them, are one per server.
    """
    stages = stages_of(scenario, edits)
    for edit in parse(edits, scenario.epoch_ms):
        edit.check([stage.state for stage in stages if stage.at_ms <= edit.at_ms][-1])
    for stage in stages:
        scheduler, jobs, cluster = scheduler_of(stage.state), stage.state.jobs, stage.state.cluster
        scheduler.check(cluster)
        if scheduler.model.uploads_to_servers and isinstance(jobs, StoredJobs):
            _check_uploads(jobs.table, len(cluster.servers))
    return stages


def _check_uploads(table: JobTable, servers: int) -> None:
    off = np.flatnonzero(uploads_off(table, servers))
    if off.size:
        assert table.uploads is not None
        begins = table.uploads[0]
        raise ModelError(
            f"job {table.ids[off[0]]}: upload_ms must hold one delay for each of the {servers:,} servers of the "
            f"cluster, got {begins[off[0] + 1] - begins[off[0]]:,}; choose the cluster of the trace, or another "
            "scheduler"
        )


def check_effects(scenario: Scenario, edits: Sequence[Any], kept: Sequence[Any] = ()) -> None:
    """ModelError names an edit that changes nothing, unless it is among those kept before; else edits are right."""
    state = base(scenario)
    for edit in sorted(parse(edits, scenario.epoch_ms), key=lambda edit: edit.at_ms):
        state = edit.checked(state) if edits[edit.number - 1] in kept else edit.effective(state)


def stages_of(scenario: Scenario, edits: Sequence[Any]) -> list[Stage]:
    """Stages of an edited scenario; ModelError and UnknownName name an impossible edit, but see `check`."""
    key, frozen = _key(scenario), _frozen(edits)
    if frozen == NO_EDITS:
        return phases(_base(key), ())

    def staged() -> list[Stage]:
        return phases(_base(key), parse(orjson.loads(frozen), scenario.epoch_ms), check=False)

    return KEPT.get(("phases", key, frozen), staged)


def same(run: Run, other: Run) -> bool:
    """True if the two have equal scenarios with equal effective edits, and so equal logs.

    Two ended runs with different logs are not the same: the code of their scheduler was changed in between.
    """
    if _identity(run) != _identity(other):
        return False
    if not run.status == other.status == Run.FINISHED:
        return True
    return (run.last_seq, run.sim_ms, run.metrics) == (other.last_seq, other.sim_ms, other.metrics)


def _identity(run: Run) -> tuple[Any, ...]:
    edits = sorted(parse(run.edits), key=lambda edit: edit.at_ms)
    return (
        *_key(run.scenario),
        run.scenario.seed,
        _frozen([plain(edit) for edit in edits]),
        _frozen(run.scenario.beliefs),
    )


def _key(scenario: Scenario) -> tuple[int, int, str, bytes]:
    return scenario.cluster_id, scenario.trace_id, scenario.scheduler, _frozen(scenario.parameters)


def _frozen(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def base(scenario: Scenario) -> ScenarioState:
    """Scenario state without edits."""
    return _base(_key(scenario))


def _base(key: tuple[int, int, str, bytes]) -> ScenarioState:
    cluster, trace, scheduler, parameters = key
    return ScenarioState(cluster_of(cluster), jobs_of(trace), scheduler, orjson.loads(parameters))


def cluster_of(spec_id: int) -> Cluster:
    """The cluster of a stored specification, which never changes once it is used."""
    return KEPT.get(
        ("cluster", spec_id), lambda: cluster_from_dict(ClusterSpec.objects.only("spec").get(pk=spec_id).spec)
    )


def jobs_of(trace_id: int) -> StoredJobs:
    """The jobs of a trace that is ready."""
    return KEPT.get(("jobs", trace_id), lambda: StoredJobs(_table(trace_id)))


def _table(trace_id: int) -> JobTable:
    return JobTable.joined(list(unpack_jobs(Trace.objects.only("jobs").get(pk=trace_id).jobs)))


def forget() -> None:
    """Removal of the cached values, for databases in which row numbers are reused."""
    KEPT.clear()


def store_cluster(
    cluster: Cluster, source: str, trace: Trace | None = None, team_id: int | None = None
) -> ClusterSpec:  # fmt: skip
    """Stored cluster for scenarios, of the team of the trace where it has one."""
    return ClusterSpec.objects.create(
        team_id=team_id,
        name=cluster.name,
        source=source[:200],
        trace=trace,
        spec=cluster_to_dict(cluster),
        server_count=len(cluster.servers),
    )


def store_generated(
    name: str, cluster: Cluster, jobs: Sequence[Job], seed: int, team_id: int | None = None
) -> tuple[ClusterSpec, Trace]:
    """Stored trace and cluster of a generated workload."""
    from twin.traces.importing.chosen_jobs import PREVIEW
    from twin.traces.importing.report import Origins

    table, origins = JobTable.of(jobs), Origins()
    origins.add(table)
    trace = Trace.objects.create(
        name=name, format="generated", status=Trace.READY, progress=1, seed=seed, job_count=len(jobs),
        server_count=len(cluster.servers), jobs=pack_jobs([table]), team_id=team_id,
        preview=[job_to_dict(job) for job in jobs[:PREVIEW]],
        report={"rows": len(jobs), "imported": len(jobs), "skipped": [], "provenance": origins.plain()},
    )  # fmt: skip
    return store_cluster(cluster, f"generated with the trace {name}", trace, team_id), trace
