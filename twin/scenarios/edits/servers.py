"""Edits of servers: add, remove, resize, fail, drain."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.limits import MAX_INT
from scheduling.model.values import (
    MAX_SERVERS,
    RESOURCE_TITLES,
    RESOURCE_UNITS,
    RESOURCES,
    SITES,
    Demand,
    Job,
    ModelError,
    shorten,
)
from scheduling.reporting.quantities import duration
from twin.scenarios.edits.base import Edit, ScenarioState, a_few, away_from, listed, servers_field

RESOURCE_WORDS = {name: name for name in RESOURCES} | {"gpu": "GPU", "cpu": "vCPU"}  # within a sentence


_LIKE = "parameter like (Server to copy)"  # as messages name it


@dataclass(frozen=True, slots=True)
class _Add(Parameters):
    count: int = parameter(1, "Number of copies", low=1, high=MAX_SERVERS, title="Number of servers")
    like: str = parameter("", "Name of the server to copy", title="Server to copy")
    site: str = parameter("", "Site of the new servers", choices=("", *SITES))


class AddServers(Edit):
    """Additional copies of a server, available from the time of the edit on."""

    name, title, about = "add_servers", "Add servers", "Adds copies of an existing server, without its outages."
    Parameters = _Add
    choice_titles = {"": "that of the copied server"}

    def apply(self, state: ScenarioState) -> ScenarioState:
        p = self.parameters
        if not p.like.strip():
            known = a_few([server.name for server in state.cluster.servers])
            raise ModelError(f"{_LIKE} is empty; name the server to copy; servers: {known}")
        chosen = self.chosen_servers(state.cluster, p.like)
        if len(chosen) > 1:
            raise ModelError(f"{_LIKE} must select one server, got {len(chosen):,} with {shorten(p.like)!r}; name one")
        if len(state.cluster.servers) + p.count > MAX_SERVERS:
            raise ModelError(
                f"a cluster has at most {MAX_SERVERS:,} servers, got {len(state.cluster.servers) + p.count:,}; "
                "add fewer"
            )
        model = state.cluster.servers[chosen[0]]
        taken = {server.name for server in state.cluster.servers}
        names = (name for n in range(1, MAX_SERVERS * 2) if (name := f"{model.name}+{n}") not in taken)
        added = [
            replace(model, name=name, site=p.site or model.site, away=((0, self.at_ms),) if self.at_ms else ())
            for name, _ in zip(names, range(p.count), strict=False)
        ]
        jobs = [_with_uploads(job, chosen[0], p.count) for job in state.jobs]
        return state.with_servers([*state.cluster.servers, *added]).with_jobs(jobs)

    def _words(self) -> str:
        p = self.parameters
        return f"Add {p.count:,} {'server' if p.count == 1 else 'servers'} like {p.like}" + (
            f", {'at' if p.site == 'edge' else 'in'} the {p.site}" if p.site else ""
        )


@dataclass(frozen=True, slots=True)
class _Which(Parameters):
    servers: str = servers_field()


class RemoveServers(Edit):
    """Permanent removal of servers."""

    name, title, about = "remove_servers", "Remove servers", "Removes servers permanently; jobs on them are displaced."
    Parameters = _Which

    def apply(self, state: ScenarioState) -> ScenarioState:
        chosen = set(self.chosen_servers(state.cluster, self.parameters.servers))
        there = [i for i, server in enumerate(state.cluster.servers) if not server.is_away(MAX_INT - 1)]
        if chosen >= set(there) and not state.cluster.unlimited_cloud:
            raise ModelError(
                f"at least one server must remain, and {shorten(self.parameters.servers)!r} selects all "
                f"{len(there):,}; select fewer"
            )
        if not self.whole:  # the log refers to existing servers by index
            servers = [away_from(s, self.at_ms) if i in chosen else s for i, s in enumerate(state.cluster.servers)]
            return state.with_servers(servers)
        kept = [i for i in range(len(state.cluster.servers)) if i not in chosen]
        jobs = [
            job if job.upload_ms is None else replace(job, upload_ms=tuple(job.upload_ms[i] for i in kept))
            for job in state.jobs
        ]
        return state.with_servers([state.cluster.servers[i] for i in kept]).with_jobs(jobs)

    def _words(self) -> str:
        return f"Remove {listed(self.parameters.servers)}"


@dataclass(frozen=True, slots=True)
class _Resize(Parameters):
    servers: str = servers_field()
    resource: str = parameter("gpu", "Resource to resize", choices=RESOURCES)
    amount: float = parameter(1.0, "New amount per server, in GPUs, vCPUs, GB or Gbps", low=0.0, high=1e9)


class ResizeServers(Edit):
    """Change of one resource of servers."""

    name, title, about = (
        "resize_servers",
        "Resize servers",
        "Sets the amount of one resource; jobs that no longer fit are displaced.",
    )
    Parameters = _Resize
    choice_titles = dict(zip(RESOURCES, RESOURCE_TITLES, strict=True))

    def apply(self, state: ScenarioState) -> ScenarioState:
        p = self.parameters
        thousandths = round(p.amount * 1000)
        if abs(thousandths - p.amount * 1000) > 1e-6:
            raise ModelError(f"amount must have at most three decimals, got {p.amount!r}")
        r = RESOURCES.index(p.resource)
        servers = list(state.cluster.servers)
        for i in self.chosen_servers(state.cluster, p.servers):
            servers[i] = replace(servers[i], capacity=_put(servers[i].capacity, r, thousandths))
        return state.with_servers(servers)

    def _words(self) -> str:
        p = self.parameters
        return (
            f"Set {RESOURCE_WORDS[p.resource]} of {listed(p.servers)} to {p.amount:g} "
            f"{RESOURCE_UNITS[RESOURCES.index(p.resource)]} "
            "per server"
        )


@dataclass(frozen=True, slots=True)
class _Fail(Parameters):
    servers: str = servers_field()
    for_ms: int = parameter(3_600_000, "Duration of the outage", low=1, high=MAX_INT, unit="ms", title="Duration")


class FailServers(Edit):
    """Unannounced outage of servers."""

    name, title, about = (
        "fail_servers",
        "Fail servers",
        "Starts an unannounced outage; the servers return after its duration.",
    )
    Parameters = _Fail

    def apply(self, state: ScenarioState) -> ScenarioState:
        servers = list(state.cluster.servers)
        for i in self.chosen_servers(state.cluster, self.parameters.servers):
            servers[i] = away_from(servers[i], self.at_ms, min(self.at_ms + self.parameters.for_ms, MAX_INT))
        return state.with_servers(servers)

    def _words(self) -> str:
        return f"Fail {listed(self.parameters.servers)} for {duration(self.parameters.for_ms)}"


@dataclass(frozen=True, slots=True)
class _Drain(Parameters):
    servers: str = servers_field()
    from_ms: int | None = parameter(
        None,
        "Start of the outage; empty: when the edit takes effect",
        type=int,
        low=0,
        high=MAX_INT,
        unit="ms",
        title="Start",
    )
    to_ms: int | None = parameter(
        None, "End of the outage; empty: permanent", type=int, low=1, high=MAX_INT, unit="ms", title="End"
    )


class DrainServers(Edit):
    """Announced outage: schedulers know it when the edit takes effect, and plan around it."""

    name, title, about = (
        "drain_servers",
        "Drain servers",
        "Announces an outage; schedulers plan around it.",
    )
    Parameters = _Drain

    def apply(self, state: ScenarioState) -> ScenarioState:
        p = self.parameters
        end_ms = MAX_INT if p.to_ms is None else p.to_ms
        begin_ms = self._begin_ms
        if begin_ms < self.at_ms:
            raise ModelError(
                f"a drain from {self.time(begin_ms)} cannot be announced at {self.time(self.at_ms)}; "
                "choose a later start"
            )
        if end_ms <= begin_ms:
            raise ModelError(f"a drain must end after its start, got {self.time(begin_ms)} to {self.time(end_ms)}")
        servers = list(state.cluster.servers)
        for i in self.chosen_servers(state.cluster, p.servers):
            servers[i] = away_from(servers[i], begin_ms, end_ms)
        return state.with_servers(servers)

    def _words(self) -> str:
        p = self.parameters
        until = "permanently" if p.to_ms is None else f"until {self.time(p.to_ms)}"
        return f"Drain {listed(p.servers)} from {self.time(self._begin_ms)} {until}"

    @property
    def _begin_ms(self) -> int:
        given: int | None = self.parameters.from_ms
        return self.at_ms if given is None else given


def _put(demand: Demand, r: int, amount: int) -> Demand:
    amounts = list(demand)
    amounts[r] = amount
    gpu, cpu, memory, storage, bandwidth = amounts
    return (gpu, cpu, memory, storage, bandwidth)


def _with_uploads(job: Job, like: int, count: int) -> Job:
    """The job with upload times for the new servers, equal to those of the copied server."""
    return job if job.upload_ms is None else replace(job, upload_ms=(*job.upload_ms, *[job.upload_ms[like]] * count))
