"""Base class of templates."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from scheduling.model.values import Cluster, Job


class Template(ABC):
    """A scenario to start with one click; equal calls of `workload` give equal jobs, byte for byte."""

    name: ClassVar[str]  # that of its file
    title: ClassVar[str]
    about: ClassVar[str]  # the first line of its card: what the workload is
    shows: ClassVar[str]  # the second one: what there is to see
    scheduler: ClassVar[str]
    rivals: ClassVar[tuple[str, ...]] = ()  # schedulers of a race with the own one
    parameters: ClassVar[Mapping[str, Any]] = {}
    edits: ClassVar[Sequence[Mapping[str, Any]]] = ()
    seed: ClassVar[int] = 1

    @classmethod
    @abstractmethod
    def workload(cls) -> tuple[Cluster, list[Job]]:
        """The cluster and the jobs, sorted by arrival."""
