"""Edits of the network: bandwidth of servers, delays of uploads, and the cloud itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scheduling.model import LARGEST, RESOURCES, Job, ModelError
from scheduling.registry import Parameters, parameter
from twin.edits.base import Edit, World, chosen_servers, servers_field, to_come

BANDWIDTH = RESOURCES.index("bandwidth")


@dataclass(frozen=True, slots=True)
class _Link(Parameters):
    servers: str = servers_field()
    factor: float = parameter(1.0, "times what they have now", low=1e-3, high=1e3)


class ChangeBandwidth(Edit):
    """Faster or slower network cards."""

    name, title, about = "change_bandwidth", "Change bandwidth", "Faster or slower network cards."
    Parameters = _Link

    def apply(self, world: World) -> World:
        factor = self.parameters.factor
        servers = list(world.cluster.servers)
        for i in chosen_servers(world.cluster, self.parameters.servers, self.at_ms):
            capacity = servers[i].capacity
            nic = servers[i].nic_gbps
            servers[i] = replace(
                servers[i],
                capacity=(*capacity[:BANDWIDTH], round(capacity[BANDWIDTH] * factor)),
                nic_gbps=None if nic is None else nic * factor,
            )
        return world.with_servers(servers)

    def _words(self) -> str:
        return f"Multiply the bandwidth of {self.parameters.servers} by {self.parameters.factor:g}"


@dataclass(frozen=True, slots=True)
class _Upload(Parameters):
    where: str = parameter("both", "uploads to the edge, to the cloud, or both", choices=("edge", "cloud", "both"))
    factor: float = parameter(1.0, "times what they take now", low=0.0, high=1e3)


class ChangeUploads(Edit):
    """Data of later jobs reaches servers and cloud sooner or later."""

    name, title, about = (
        "change_uploads",
        "Change upload delays",
        "Data of jobs that are still to come reaches servers or cloud sooner or later.",
    )
    Parameters = _Upload

    def apply(self, world: World) -> World:
        if all(job.upload_ms is None and job.cloud_upload_ms is None for job in world.jobs):
            raise ModelError("no job of this trace says how long its uploads take")
        return world.with_jobs([self._changed(job) if to_come(job, self.at_ms) else job for job in world.jobs])

    def _changed(self, job: Job) -> Job:
        p = self.parameters
        edge, cloud = job.upload_ms, job.cloud_upload_ms
        if edge is not None and p.where != "cloud":
            edge = tuple(min(LARGEST, round(ms * p.factor)) for ms in edge)
        if cloud is not None and p.where != "edge":
            cloud = min(LARGEST, round(cloud * p.factor))
        return replace(job, upload_ms=edge, cloud_upload_ms=cloud)

    def _words(self) -> str:
        where = {"edge": "to the edge", "cloud": "to the cloud", "both": "to edge and cloud"}[self.parameters.where]
        return f"Multiply the time of uploads {where} by {self.parameters.factor:g}"


@dataclass(frozen=True, slots=True)
class _Cloud(Parameters):
    on: bool = parameter(True, "whether there is a cloud without limits")


class SwitchCloud(Edit):
    """A cloud without limits, or none."""

    name, title, about = "switch_cloud", "Switch the cloud", "A cloud without limits is there, or is not."
    Parameters = _Cloud

    def apply(self, world: World) -> World:
        on = self.parameters.on
        if on == world.cluster.unlimited_cloud:
            raise ModelError(f"the cloud is {'on' if on else 'off'} already")
        return replace(world, cluster=replace(world.cluster, unlimited_cloud=on))

    def _words(self) -> str:
        return f"Switch the cloud {'on' if self.parameters.on else 'off'}"
