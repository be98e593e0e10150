"""Edits of the network: bandwidth of servers, delays of uploads, and the cloud itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.limits import MAX_INT
from scheduling.model.values import BANDWIDTH, Job, ModelError
from twin.scenarios.edits.base import Edit, ScenarioState, listed, servers_field, to_come


@dataclass(frozen=True, slots=True)
class _Link(Parameters):
    servers: str = servers_field()
    factor: float = parameter(1.0, "Factor of the bandwidth", low=1e-3, high=1e3)


class ChangeBandwidth(Edit):
    """Scaling of the bandwidth of servers."""

    name, title, about = "change_bandwidth", "Change bandwidth", "Scales the network bandwidth of servers."
    Parameters = _Link
    begins = {"factor": 0.5}

    def apply(self, state: ScenarioState) -> ScenarioState:
        factor = self.parameters.factor
        servers = list(state.cluster.servers)
        for i in self.chosen_servers(state.cluster, self.parameters.servers):
            capacity = servers[i].capacity
            nic = servers[i].nic_gbps
            servers[i] = replace(
                servers[i],
                capacity=(*capacity[:BANDWIDTH], round(capacity[BANDWIDTH] * factor)),
                nic_gbps=None if nic is None else nic * factor,
            )
        return state.with_servers(servers)

    def _words(self) -> str:
        return f"Multiply the bandwidth of {listed(self.parameters.servers)} by {self.parameters.factor:g}"


@dataclass(frozen=True, slots=True)
class _Upload(Parameters):
    where: str = parameter(
        "both",
        "Uploads to the edge, to the unlimited cloud, or both",
        choices=("edge", "cloud", "both"),
        title="Uploads",
    )
    factor: float = parameter(1.0, "Factor of the upload time", low=0.0, high=1e3)


class ChangeUploads(Edit):
    """Scaling of the upload times of future jobs."""

    name, title, about = (
        "change_uploads",
        "Change upload times",
        "Scales the upload times of future jobs to servers or the unlimited cloud.",
    )
    Parameters = _Upload
    begins = {"factor": 2.0}

    def apply(self, state: ScenarioState) -> ScenarioState:
        if all(job.upload_ms is None and job.cloud_upload_ms is None for job in state.jobs):
            raise ModelError("no job of this trace has upload times; remove the edit")
        return state.with_jobs([self._changed(job) if to_come(job, self.at_ms) else job for job in state.jobs])

    def _changed(self, job: Job) -> Job:
        p = self.parameters
        edge, cloud = job.upload_ms, job.cloud_upload_ms
        if edge is not None and p.where != "cloud":
            edge = tuple(min(MAX_INT, round(ms * p.factor)) for ms in edge)
        if cloud is not None and p.where != "edge":
            cloud = min(MAX_INT, round(cloud * p.factor))
        return replace(job, upload_ms=edge, cloud_upload_ms=cloud)

    def _words(self) -> str:
        where = {
            "edge": "to the edge",
            "cloud": "to the unlimited cloud",
            "both": "to the edge and the unlimited cloud",
        }[self.parameters.where]
        return f"Multiply the time of uploads {where} by {self.parameters.factor:g}"


@dataclass(frozen=True, slots=True)
class _Cloud(Parameters):
    on: bool = parameter(True, "Enable an unlimited cloud", title="Unlimited cloud")


class SwitchCloud(Edit):
    """Switching of the unlimited cloud."""

    name, title, about = (
        "switch_cloud",
        "Switch the unlimited cloud on or off",
        "Enables or disables an unlimited cloud, which only schedulers of typed workers use.",
    )
    Parameters = _Cloud

    def apply(self, state: ScenarioState) -> ScenarioState:
        on = self.parameters.on
        if on == state.cluster.unlimited_cloud:
            raise ModelError(f"the unlimited cloud is already {'on' if on else 'off'}")
        return replace(state, cluster=replace(state.cluster, unlimited_cloud=on))

    def _words(self) -> str:
        return f"Switch the unlimited cloud {'on' if self.parameters.on else 'off'}"
