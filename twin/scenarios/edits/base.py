"""Base class of edits, the scenario state they change, and the selection of servers and jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from scheduling.kernel.parameters import Parameters, UnknownName, describe, parameter
from scheduling.kernel.registry import build
from scheduling.model.limits import MAX_INT
from scheduling.model.values import Cluster, Job, ModelError, Server, shorten
from scheduling.reporting.quantities import counted
from twin.moments import run_moment

MAX_SHOWN = 5  # names that a message lists


@dataclass(frozen=True)
class ScenarioState:
    """Scenario state: everything that determines a run from a given time on."""

    cluster: Cluster
    jobs: Sequence[Job]
    scheduler: str
    parameters: Mapping[str, Any]
    added: int = 0  # jobs that edits have added

    def same(self, other: ScenarioState) -> bool:
        """True if nothing differs: no server, no job, no effective parameter."""
        if self.scheduler != other.scheduler or self.cluster != other.cluster:
            return False
        if self.parameters != other.parameters and _built(self) != _built(other):
            return False
        return self.jobs is other.jobs or list(self.jobs) == list(other.jobs)

    def with_jobs(self, jobs: Sequence[Job]) -> ScenarioState:
        """Scenario state with other jobs."""
        return replace(self, jobs=jobs)

    def with_servers(self, servers: Sequence[Server], **changes: Any) -> ScenarioState:
        """Scenario state with other servers."""
        return replace(self, cluster=replace(self.cluster, servers=tuple(servers), **changes))


def _built(state: ScenarioState) -> Any:
    """The parameters with every default filled in."""
    return build(state.scheduler, state.parameters).parameters


@dataclass(frozen=True)
class Edit(ABC):
    """Edit with its parameters and time; `number` is its position in the list, for messages."""

    at_ms: int
    parameters: Any
    number: int = 1
    epoch_ms: int | None = None  # Unix ms from which its times count, if they do: Scenario.epoch_ms

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]  # one sentence
    of_jobs: ClassVar[bool] = False  # whether it changes what jobs there are, or what they are
    later: ClassVar[bool] = False  # whether it cannot take effect from the beginning on
    Parameters: ClassVar[type] = Parameters
    choice_titles: ClassVar[Mapping[str, str]] = {}  # of choices that are not labels
    begins: ClassVar[Mapping[str, Any]] = {}  # what its form begins with where the default changes nothing

    @classmethod
    def form(cls) -> list[dict[str, Any]]:
        """Declarations of the parameters as plain data, from which the form is generated."""
        return [
            row
            | {"default": cls.begins.get(row["name"], row["default"])}
            | ({"titles": cls.choice_titles} if row["choices"] else {})
            for row in describe(cls.Parameters)
        ]

    @property
    def subject(self) -> str:
        """Name of the edit in messages."""
        return f"edit {self.number} ({self.title.lower()})"

    def time(self, ms: int) -> str:
        """A time of the scenario, for messages and sentences."""
        return run_moment(ms, self.epoch_ms)

    @property
    def whole(self) -> bool:
        """True if it takes effect before anything has happened."""
        return self.at_ms == 0

    @abstractmethod
    def apply(self, state: ScenarioState) -> ScenarioState:
        """The scenario state from `at_ms` on; ModelError if the edit is impossible."""

    def applied(self, state: ScenarioState) -> ScenarioState:
        """Result of `apply`; the ModelError names the edit. The edit must take effect before the horizon."""
        cluster = state.cluster
        ends_ms = cluster.horizon_slots * cluster.slot_ms if cluster.horizon_slots else None
        if ends_ms is not None and self.at_ms >= ends_ms:
            raise ModelError(
                f"{self.subject}: takes effect at {self.time(self.at_ms)}, and the scenario ends at "
                f"{self.time(ends_ms)}; choose an earlier time"
            )
        with self._named():
            return self.apply(state)

    def checked(self, state: ScenarioState) -> ScenarioState:
        """Result of `applied`, after its `check`."""
        after = self.applied(state)
        self.check(after)
        return after

    def check(self, after: ScenarioState) -> None:
        """ModelError, which names the edit, if a run cannot go on with the result; to show an old run, it need not."""
        with self._named():
            self._check(after)

    def effective(self, state: ScenarioState) -> ScenarioState:
        """Result of `checked`; ModelError if the edit changes nothing."""
        after = self.checked(state)
        if after.same(state):
            raise ModelError(
                f"{self.subject}: changes nothing (“{self.sentence()}”); choose "
                "another value or time, or remove the edit"
            )
        return after

    def chosen_servers(self, cluster: Cluster, text: str) -> list[int]:
        """Indices of the selected servers; ModelError if a word matches none that exists at the time of the edit."""
        there = {server.name: i for i, server in enumerate(cluster.servers) if not _gone(server, self.at_ms)}
        found: set[int] = set()
        for word in _words_of(text, "servers"):
            some = [i for name, i in there.items() if fnmatchcase(name, word)]
            if not some:
                raise ModelError(
                    f"no server matches {shorten(word)!r} at {self.time(self.at_ms)}; servers: {a_few(list(there))}"
                )
            found.update(some)
        return sorted(found)

    def chosen_jobs(self, state: ScenarioState, text: str) -> list[int]:
        """Indices of the selected jobs that arrive after the edit; ModelError if there is none."""
        words = _words_of(text, "jobs")
        models = {word.removeprefix("model:") for word in words if word.startswith("model:")}
        exact = {word for word in words if not any(sign in word for sign in "*?[")}
        wild = [word for word in words if word not in exact]
        named = [
            i for i, job in enumerate(state.jobs)
            if job.id in exact or job.model in models or any(fnmatchcase(job.id, word) for word in wild)
        ]  # fmt: skip
        if not named:
            raise ModelError(
                f"no job matches {shorten(text)!r}; jobs: "
                f"{a_few([job.id for job in state.jobs[: MAX_SHOWN + 1]], len(state.jobs))}"
            )
        later = [i for i in named if to_come(state.jobs[i], self.at_ms)]
        if not later:
            raise ModelError(
                f"no job that matches {shorten(text)!r} arrives after {self.time(self.at_ms)} "
                f"({counted(len(named), 'job')} before); select future jobs"
            )
        return later

    def sentence(self) -> str:
        """Description of the edit in one sentence."""
        words = self._words()
        return words if self.whole else f"From {self.time(self.at_ms)}: {words[0].lower()}{words[1:]}"

    @abstractmethod
    def _words(self) -> str: ...

    def _check(self, after: ScenarioState) -> None:
        return

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (ModelError, UnknownName) as error:
            raise ModelError(f"{self.subject}: {error}") from error


def servers_field() -> Any:
    """Declaration of the parameter that selects servers."""
    return parameter("", "Server names, separated by spaces; wildcards * and ?")


def jobs_field() -> Any:
    """Declaration of the parameter that selects jobs."""
    return parameter("*", "Job ids, separated by spaces; wildcards * and ?; model:NAME selects all jobs of a model")


def to_come(job: Job, at_ms: int) -> bool:
    """True if an edit at that time can still change the job; jobs that arrive at that time have arrived."""
    return job.arrival_ms > at_ms or at_ms == 0


def arriving(job: Job, arrival_ms: int, at_ms: int) -> Job:
    """The job with another arrival time, after the time of the edit."""
    return replace(job, arrival_ms=earliest(arrival_ms, at_ms))


def earliest(arrival_ms: int, at_ms: int) -> int:
    """Arrival of a job that is to arrive then: edits take effect at the end of an instant, after its arrivals."""
    return max(arrival_ms, at_ms + 1) if at_ms else arrival_ms


def change_jobs(state: ScenarioState, chosen: Sequence[int], change: Callable[[Job], Job | None]) -> ScenarioState:
    """The scenario state with these jobs changed, or removed if `change` returns None; sorted by arrival."""
    touched = set(chosen)
    jobs = [new for i, job in enumerate(state.jobs) if (new := change(job) if i in touched else job) is not None]
    return state.with_jobs(sorted(jobs, key=lambda job: job.arrival_ms))


def away_from(server: Server, from_ms: int, to_ms: int = MAX_INT) -> Server:
    """The server with an additional outage in that interval."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted([*server.away, (from_ms, to_ms)]):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return replace(server, away=tuple(merged))


def _gone(server: Server, at_ms: int) -> bool:
    return any(begin <= at_ms and end >= MAX_INT for begin, end in server.away)


def _words_of(text: str, what: str) -> list[str]:
    words = text.replace(",", " ").split()
    if not words:
        raise ModelError(f"{what} must be selected; * selects all")
    return words


def a_few(names: Sequence[str], total: int | None = None) -> str:
    """The first names, for a message."""
    more = (total or len(names)) - MAX_SHOWN
    return ", ".join(names[:MAX_SHOWN]) + (f" and {more:,} more" if more > 0 else "") if names else "none"


def listed(selection: str) -> str:
    """The first names of a selection as users write it, for a sentence; … while nothing is selected."""
    return a_few(selection.replace(",", " ").split() or ["…"])
