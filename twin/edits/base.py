"""What every edit is, what it changes, and how it chooses servers and jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from scheduling.model import LARGEST, Cluster, Job, ModelError, Server, shorten
from scheduling.registry import Parameters, UnknownName, parameter
from twin.edits.moments import moment

SHOWN = 5  # names that a message lists


@dataclass(frozen=True)
class World:
    """All that determines what happens from some moment on."""

    cluster: Cluster
    jobs: Sequence[Job]
    scheduler: str
    parameters: Mapping[str, Any]
    added: int = 0  # jobs that edits have added

    def with_jobs(self, jobs: Sequence[Job]) -> World:
        """The same with other jobs."""
        return replace(self, jobs=jobs)

    def with_servers(self, servers: Sequence[Server], **changes: Any) -> World:
        """The same with other servers."""
        return replace(self, cluster=replace(self.cluster, servers=tuple(servers), **changes))


@dataclass(frozen=True)
class Edit:
    """One verb with its parameters at a moment; `number` is its place in the list, for messages."""

    at_ms: int
    parameters: Any
    number: int = 1

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]  # one sentence
    Parameters: ClassVar[type] = Parameters

    @property
    def subject(self) -> str:
        """How messages call it."""
        return f"edit {self.number} ({self.title.lower()})"

    @property
    def whole(self) -> bool:
        """Whether it takes effect before anything has happened."""
        return self.at_ms == 0

    def apply(self, world: World) -> World:
        """The world from `at_ms` on. ModelError when it cannot be done."""
        raise NotImplementedError

    def checked(self, world: World) -> World:
        """The same; the ModelError names the edit. It must take effect before the horizon."""
        cluster = world.cluster
        ends_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
        if ends_ms is not None and self.at_ms >= ends_ms:
            raise ModelError(f"{self.subject}: takes effect at {moment(self.at_ms)}, and the scenario ends at {moment(ends_ms)}")
        try:
            return self.apply(world)
        except (ModelError, UnknownName) as error:
            raise ModelError(f"{self.subject}: {error}") from error

    def sentence(self) -> str:
        """What it does, in one line a person can read."""
        words = self._words()
        return words if self.whole else f"From {moment(self.at_ms)}: {words[0].lower()}{words[1:]}"

    def _words(self) -> str:
        raise NotImplementedError


def servers_field() -> Any:
    """Declares which servers an edit is about."""
    return parameter("", "names, * and ? stand for anything; several between blanks")


def jobs_field() -> Any:
    """Declares which jobs an edit is about."""
    return parameter("*", "ids, * and ? stand for anything; several between blanks; model:NAME for all of a model")


def chosen_servers(cluster: Cluster, text: str, at_ms: int) -> list[int]:
    """Indices of the servers that the text names; ModelError when a word names none that is there at that moment."""
    there = {server.name: i for i, server in enumerate(cluster.servers) if not _gone(server, at_ms)}
    found: set[int] = set()
    for word in _words_of(text, "servers"):
        some = [i for name, i in there.items() if fnmatchcase(name, word)]
        if not some:
            raise ModelError(f"no server is called {shorten(word)!r} at {moment(at_ms)}; there are {a_few(list(there))}")
        found.update(some)
    return sorted(found)


def chosen_jobs(world: World, text: str, at_ms: int) -> list[int]:
    """Indices of the jobs that the text names and that arrive at or after the moment; ModelError when there is none."""
    words = _words_of(text, "jobs")
    models = {word.removeprefix("model:") for word in words if word.startswith("model:")}
    exact = {word for word in words if not any(sign in word for sign in "*?[")}
    wild = [word for word in words if word not in exact]
    named = [
        i for i, job in enumerate(world.jobs)
        if job.id in exact or job.model in models or any(fnmatchcase(job.id, word) for word in wild)
    ]  # fmt: skip
    if not named:
        raise ModelError(
            f"no job fits {shorten(text)!r}; there are {a_few([job.id for job in world.jobs[: SHOWN + 1]], len(world.jobs))}"
        )
    later = [i for i in named if to_come(world.jobs[i], at_ms)]
    if not later:
        raise ModelError(
            f"the {len(named)} jobs that fit {shorten(text)!r} have arrived before {moment(at_ms)}; choose jobs that are still to come"
        )
    return later


def to_come(job: Job, at_ms: int) -> bool:
    """Whether an edit at that moment can still change the job: what arrives at the moment itself has arrived."""
    return job.arrival_ms > at_ms or at_ms == 0


def arriving(job: Job, arrival_ms: int, at_ms: int) -> Job:
    """The job with another arrival, behind the moment of the edit that moves it."""
    return replace(job, arrival_ms=max(arrival_ms, at_ms + 1) if at_ms else arrival_ms)


def change_jobs(world: World, chosen: Sequence[int], change: Callable[[Job], Job | None]) -> World:
    """The world with those jobs changed, or gone where `change` gives None; sorted by arrival as before."""
    touched = set(chosen)
    jobs = [new for i, job in enumerate(world.jobs) if (new := change(job) if i in touched else job) is not None]
    return world.with_jobs(sorted(jobs, key=lambda job: job.arrival_ms))


def away_from(server: Server, from_ms: int, to_ms: int = LARGEST) -> Server:
    """The server, not there in that interval either."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted([*server.away, (from_ms, to_ms)]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return replace(server, away=tuple(merged))


def _gone(server: Server, at_ms: int) -> bool:
    return any(begin <= at_ms and end >= LARGEST for begin, end in server.away)


def _words_of(text: str, what: str) -> list[str]:
    words = text.replace(",", " ").split()
    if not words:
        raise ModelError(f"{what} must be named; * stands for all")
    return words


def a_few(names: Sequence[str], total: int | None = None) -> str:
    """The first of the names, for a message."""
    more = (total or len(names)) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more:,} more" if more > 0 else "") if names else "none"
