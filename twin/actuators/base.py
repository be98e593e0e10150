"""The actuator: changes waiting jobs of a real cluster. A file here with one named subclass is enough.

It has its own credential, which only the acting process knows (manage.py act); connectors only read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from scheduling.kernel.parameters import Parameters
from twin import actuators
from twin.actuators.facts import Change, WaitingJob
from twin.infra.menu import Menu


class Actuator(ABC):
    """Reader and writer of the waiting jobs of one cluster. Every method but `commands` raises ActuatorError."""

    name: ClassVar[str]  # that of the connector of the same kind of cluster, and of its file
    title: ClassVar[str]
    Parameters: ClassVar[type] = Parameters

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()
        self.clock_offset_ms = 0  # the cluster's clock minus ours

    @abstractmethod
    def account(self) -> str:
        """The account by which changes are made, and its right to make them, in one line."""

    @abstractmethod
    def waiting(self, keys: Sequence[str] | None = None) -> dict[str, WaitingJob]:
        """Waiting jobs by key; with `keys` only these. A job that is missing no longer waits."""

    @abstractmethod
    def apply(self, change: Change) -> None:
        """Execution of the change; ActuatorError when the cluster refuses it."""

    @staticmethod
    @abstractmethod
    def command(change: Change) -> str:
        """The command that makes the change, as somebody would type it."""


MENU: Menu[Actuator] = Menu("actuator", actuators, Actuator)
names, actuator_class, build = MENU.names, MENU.named, MENU.build
