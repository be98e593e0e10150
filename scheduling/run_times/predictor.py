"""The run-time predictor: what is believed about a job's run time before it ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol


class Similar(Protocol):
    """Fields by which jobs are compared: of a `Job`, or of a job of a real cluster (`tournament.similar`)."""

    @property
    def user(self) -> str | None: ...
    @property
    def requested_workers(self) -> int | None: ...
    @property
    def limit_ms(self) -> int | None: ...


class Predictor(ABC):
    """Prediction of run times; it knows only jobs that have ended before."""

    name: ClassVar[str]
    title: ClassVar[str]  # as printed on screen
    about: ClassVar[str]  # one sentence
    learns: ClassVar[bool]  # from jobs that have ended

    @abstractmethod
    def predict(self, job: Similar) -> int | None:
        """Predicted run time in ms, at most the time limit; None where nothing is known."""

    @abstractmethod
    def observe(self, job: Similar, run_ms: int) -> None:
        """Observation of a job that has ended after running that long, to learn from."""

    @abstractmethod
    def state(self) -> list[Any]:
        """State for `restore`."""

    @abstractmethod
    def restore(self, state: Sequence[Any]) -> None:
        """The inverse of `state`."""
