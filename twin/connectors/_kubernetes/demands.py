"""GPUs, CPUs and memory that pods ask for and nodes offer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from twin.connectors._kubernetes.quantities import thousandths


@dataclass(frozen=True, slots=True)
class Demand:
    """An amount of GPUs, CPUs and memory; whole numbers are rounded down, so that what fits on a node still fits."""

    gpus: int = 0
    cpu_millis: int = 0
    memory_bytes: int = 0

    def __add__(self, other: Demand) -> Demand:
        return Demand(
            self.gpus + other.gpus, self.cpu_millis + other.cpu_millis, self.memory_bytes + other.memory_bytes
        )

    def __mul__(self, count: int) -> Demand:
        return Demand(self.gpus * count, self.cpu_millis * count, self.memory_bytes * count)

    def at_least(self, other: Demand) -> Demand:
        """The larger one of each."""
        pairs = zip(
            (self.gpus, self.cpu_millis, self.memory_bytes),
            (other.gpus, other.cpu_millis, other.memory_bytes),
            strict=True,
        )
        return Demand(*map(max, pairs))

    @property
    def cpus(self) -> int:
        """Whole CPUs."""
        return self.cpu_millis // 1000

    @property
    def memory_mb(self) -> int:
        """Whole MiB."""
        return self.memory_bytes >> 20


NOTHING = Demand()


class Reader:
    """Amounts out of objects of the API; `gpu_resources` are the names that count as GPUs, `*` means any ending."""

    def __init__(self, gpu_resources: Iterable[str]) -> None:
        self._patterns = tuple(gpu_resources)
        self._is_gpu: dict[str, bool] = {}

    def amount(self, resources: Mapping[str, Any] | None) -> Demand:
        """Amount of a list of resources: {"cpu": "500m", "nvidia.com/gpu": "2"}."""
        gpus = cpu = memory = 0
        for name, value in (resources or {}).items():
            if name == "cpu":
                cpu = thousandths(value)
            elif name == "memory":
                memory = thousandths(value) // 1000
            elif self.is_gpu(name):
                gpus += thousandths(value) // 1000
        return Demand(gpus, cpu, memory)

    def is_gpu(self, name: str) -> bool:
        """True if a resource of that name counts as GPUs."""
        known = self._is_gpu.get(name)
        if known is None:
            known = self._is_gpu[name] = any(fnmatchcase(name, pattern) for pattern in self._patterns)
        return known

    def pod(self, spec: Mapping[str, Any]) -> Demand:
        """Resources that a scheduler reserves for a pod: its containers and sidecars, or the largest init container."""
        total, before = Demand(), Demand()  # `before`: sidecars that run while an init container does
        largest = Demand()
        for container in spec.get("initContainers") or ():
            if container.get("restartPolicy") == "Always":
                before += self._container(container)
                largest = largest.at_least(before)
            else:
                largest = largest.at_least(before + self._container(container))
        for container in spec.get("containers") or ():
            total += self._container(container)
        return (total + before).at_least(largest) + self.amount(spec.get("overhead"))

    def _container(self, container: Mapping[str, Any]) -> Demand:
        resources = container.get("resources") or {}
        return self.amount({**(resources.get("limits") or {}), **(resources.get("requests") or {})})
