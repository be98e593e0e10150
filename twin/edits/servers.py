"""Edits of servers: add, remove, resize, fail, drain."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scheduling.model import LARGEST, RESOURCE_UNITS, RESOURCES, SITES, Demand, Job, ModelError, Server, shorten
from scheduling.registry import Parameters, parameter
from twin.edits.base import Edit, World, away_from, chosen_servers, servers_field
from twin.edits.moments import moment

MOST_SERVERS = 20_000  # of a cluster


@dataclass(frozen=True, slots=True)
class _Add(Parameters):
    count: int = parameter(1, "how many", low=1, high=MOST_SERVERS)
    like: str = parameter("", "the name of a server that they are copies of")
    site: str = parameter("", "edge or cloud; empty: as the server they copy", choices=("", *SITES))


class AddServers(Edit):
    """More servers like one that is there."""

    name, title, about = "add_servers", "Add servers", "More servers like one that is there."
    Parameters = _Add

    def apply(self, world: World) -> World:
        p = self.parameters
        chosen = chosen_servers(world.cluster, p.like, self.at_ms)
        if len(chosen) > 1:
            raise ModelError(f"like must name one server, {shorten(p.like)!r} names {len(chosen):,}; name the one to copy")
        if len(world.cluster.servers) + p.count > MOST_SERVERS:
            raise ModelError(
                f"a cluster has at most {MOST_SERVERS:,} servers, it would have {len(world.cluster.servers) + p.count:,}"
            )
        model = world.cluster.servers[chosen[0]]
        taken = {server.name for server in world.cluster.servers}
        names = (name for n in range(1, MOST_SERVERS * 2) if (name := f"{model.name}+{n}") not in taken)
        added = [
            replace(model, name=name, site=p.site or model.site, away=_away_before(model, self.at_ms))
            for name, _ in zip(names, range(p.count), strict=False)
        ]
        jobs = [_with_uploads(job, chosen[0], p.count) for job in world.jobs]
        return world.with_servers([*world.cluster.servers, *added]).with_jobs(jobs)

    def _words(self) -> str:
        p = self.parameters
        return f"Add {p.count} {'server' if p.count == 1 else 'servers'} like {p.like}" + (f", at the {p.site}" if p.site else "")


@dataclass(frozen=True, slots=True)
class _Which(Parameters):
    servers: str = servers_field()


class RemoveServers(Edit):
    """Servers that are gone for good; what runs there is displaced."""

    name, title, about = "remove_servers", "Remove servers", "They are gone for good; what runs there is displaced."
    Parameters = _Which

    def apply(self, world: World) -> World:
        chosen = set(chosen_servers(world.cluster, self.parameters.servers, self.at_ms))
        there = [i for i, server in enumerate(world.cluster.servers) if not server.is_away(LARGEST - 1)]
        if chosen >= set(there) and not world.cluster.unlimited_cloud:
            raise ModelError("no server would be left; leave at least one")
        if not self.whole:  # servers that have a past keep their numbers
            servers = [away_from(s, self.at_ms) if i in chosen else s for i, s in enumerate(world.cluster.servers)]
            return world.with_servers(servers)
        kept = [i for i in range(len(world.cluster.servers)) if i not in chosen]
        jobs = [
            job if job.upload_ms is None else replace(job, upload_ms=tuple(job.upload_ms[i] for i in kept)) for job in world.jobs
        ]
        return world.with_servers([world.cluster.servers[i] for i in kept]).with_jobs(jobs)

    def _words(self) -> str:
        return f"Remove {self.parameters.servers}"


@dataclass(frozen=True, slots=True)
class _Resize(Parameters):
    servers: str = servers_field()
    resource: str = parameter("gpu", "what is resized", choices=RESOURCES)
    amount: float = parameter(1.0, "what each of them then has, in whole units", low=0.0, high=1e9)


class ResizeServers(Edit):
    """Another amount of one resource."""

    name, title, about = "resize_servers", "Resize servers", "Another amount of one resource; what no longer fits is displaced."
    Parameters = _Resize

    def apply(self, world: World) -> World:
        p = self.parameters
        thousandths = round(p.amount * 1000)
        if abs(thousandths - p.amount * 1000) > 1e-6:
            raise ModelError(f"amount must have at most three decimals, got {p.amount!r}")
        r = RESOURCES.index(p.resource)
        servers = list(world.cluster.servers)
        for i in chosen_servers(world.cluster, p.servers, self.at_ms):
            servers[i] = replace(servers[i], capacity=_put(servers[i].capacity, r, thousandths))
        return world.with_servers(servers)

    def _words(self) -> str:
        p = self.parameters
        return f"Give {p.servers} {p.amount:g} {RESOURCE_UNITS[RESOURCES.index(p.resource)]} of {p.resource} each"


@dataclass(frozen=True, slots=True)
class _Fail(Parameters):
    servers: str = servers_field()
    for_ms: int = parameter(3_600_000, "how long", low=1, high=LARGEST, unit="ms")


class FailServers(Edit):
    """Servers that fail without warning and come back."""

    name, title, about = "fail_servers", "Fail servers", "They stop without warning, and come back after a while."
    Parameters = _Fail

    def apply(self, world: World) -> World:
        servers = list(world.cluster.servers)
        for i in chosen_servers(world.cluster, self.parameters.servers, self.at_ms):
            servers[i] = away_from(servers[i], self.at_ms, min(self.at_ms + self.parameters.for_ms, LARGEST))
        return world.with_servers(servers)

    def _words(self) -> str:
        return f"{self.parameters.servers} fails for {moment(self.parameters.for_ms)}"


@dataclass(frozen=True, slots=True)
class _Drain(Parameters):
    servers: str = servers_field()
    from_ms: int = parameter(0, "from when on nothing may stand there", low=0, high=LARGEST, unit="ms")
    to_ms: int | None = parameter(None, "until when; empty: for good", type=int, low=1, high=LARGEST, unit="ms")


class DrainServers(Edit):
    """An announced absence: the schedulers know of it when the edit takes effect, and plan around it."""

    name, title, about = (
        "drain_servers",
        "Drain servers",
        "Announced: schedulers plan around a time in which nothing may stand there.",
    )
    Parameters = _Drain

    def apply(self, world: World) -> World:
        p = self.parameters
        end_ms = LARGEST if p.to_ms is None else p.to_ms
        if p.from_ms < self.at_ms:
            raise ModelError(
                f"a drain from {moment(p.from_ms)} cannot be announced at {moment(self.at_ms)}; let it begin then or later"
            )
        if end_ms <= p.from_ms:
            raise ModelError(f"a drain must end after it begins, got {moment(p.from_ms)} to {moment(end_ms)}")
        servers = list(world.cluster.servers)
        for i in chosen_servers(world.cluster, p.servers, self.at_ms):
            servers[i] = away_from(servers[i], p.from_ms, end_ms)
        return world.with_servers(servers)

    def _words(self) -> str:
        p = self.parameters
        until = "for good" if p.to_ms is None else f"until {moment(p.to_ms)}"
        return f"Drain {p.servers} from {moment(p.from_ms)} {until}"


def _away_before(model: Server, at_ms: int) -> tuple[tuple[int, int], ...]:
    """The absences of a copy that is not there before the moment; those of the model that come later are its own."""
    later = [(max(begin, at_ms), end) for begin, end in model.away if end > at_ms]
    if not at_ms or (later and later[0][0] == at_ms):
        return tuple([(0, later[0][1]), *later[1:]] if at_ms else later)
    return ((0, at_ms), *later)


def _put(demand: Demand, r: int, amount: int) -> Demand:
    return (*demand[:r], amount, *demand[r + 1 :])  # type: ignore[return-value]


def _with_uploads(job: Job, like: int, count: int) -> Job:
    """Its data reaches the new servers as fast as the one they copy."""
    return job if job.upload_ms is None else replace(job, upload_ms=(*job.upload_ms, *[job.upload_ms[like]] * count))
