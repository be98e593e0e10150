"""Finds every scheduler in algorithms/, and says what a scheduler is.

A scheduler file defines one subclass of :class:`BaseScheduler` with ``name``; nothing else registers it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from scheduling import algorithms
from scheduling.model import NOTHING, RESOURCES, Cluster, Decision, Job, Placement, Reason
from scheduling.questions import Offer, Patience
from scheduling.training import LIMITS, world_of


class UnknownName(ValueError):
    """A scheduler or parameter that does not exist; the message lists the names that do."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Base of a scheduler's parameters. Each field is declared with :func:`parameter`."""

    def __post_init__(self) -> None:
        for f in fields(self):
            check_parameter(f.name, f.metadata, getattr(self, f.name))


class BaseScheduler:
    """The protocol, with hooks that do nothing: a scheduler writes only those it needs.

    Every hook gets the current time in ms and returns a Decision; bars in its plan start at or after now_ms.
    The same cluster, jobs, parameters and seed give the same decisions, to the byte.
    """

    name: ClassVar[str]  # as typed on the command line
    title: ClassVar[str]  # as printed on screen
    paper: ClassVar[str]  # where it comes from, in one line
    summary: ClassVar[str]  # one sentence an operator understands
    needs: ClassVar[tuple[str, ...]] = ()  # fields of Job that must not be None
    limits: tuple[str, ...] = RESOURCES  # those that a server can run out of in this scheduler's model (`limits_on`)
    groups: ClassVar[bool] = False  # its jobs share whole machines in groups, which it tells in `grouped` events
    lanes: ClassVar[bool] = False  # it places single workers on typed lanes (typed.py), which are what servers run out of
    quotes: ClassVar[bool] = False  # it can tell what it would say to a job (`assume`, `quote`)
    keeps: ClassVar[bool] = False  # where the cluster changes in the middle of a run, it goes on with plans that still fit
    worlds: ClassVar[tuple[str, ...]] = ()  # training models (training.WORLDS) that its slots and jobs may obey
    Parameters: ClassVar[type] = Parameters

    def __init__(self, parameters: Any = None) -> None:
        self.parameters = parameters if parameters is not None else self.Parameters()
        self.patience = Patience()

    def model_on(self, cluster: Cluster) -> str | None:
        """The training model at work on this cluster: its parameter `model`, or by the servers' roles; None for other schedulers."""
        if len(self.worlds) < 2:
            return self.worlds[0] if self.worlds else None
        return getattr(self.parameters, "model", None) or world_of(cluster)

    def seen(self, cluster: Cluster) -> Cluster:
        """The cluster as it is used, where the scheduler gives servers fewer roles than they could take."""
        return cluster

    def limits_on(self, cluster: Cluster) -> tuple[str, ...]:
        """Those resources that a server of this cluster can run out of."""
        model = self.model_on(cluster)
        return self.limits if model is None else LIMITS[model]

    def check(self, cluster: Cluster) -> None:
        """Raises ModelError when it surely cannot schedule this cluster. Cheap: asked when a scenario is made."""

    def start(self, cluster: Cluster, jobs: Sequence[Job], rng: np.random.Generator) -> None:
        """Before the first event. `jobs` is the whole scenario: only online information may decide on them."""
        self.cluster = cluster
        self.jobs = jobs
        self.rng = rng
        self.horizon = cluster.horizon_slots  # slots that it plans and prices; its own where the cluster has none

    def on_arrival(self, now_ms: int, job: int) -> Decision:
        """Job (index) has arrived."""
        return NOTHING

    def on_completion(self, now_ms: int, job: int) -> Decision:
        """The job's work is done; its bars end now."""
        return NOTHING

    def on_cluster_change(self, now_ms: int, server: int) -> Decision:
        """A server (index) leaves or returns at this moment; which of them, `Server.is_away` says.

        What stood on a server that leaves had to end by now: the ledger refuses bars on a machine that is not there.
        """
        return NOTHING

    def on_slot(self, now_ms: int, slot: int) -> Decision:
        """A slot begins, and something happened since the last call or a wake-up was asked for.

        Called after the completions and arrivals of the same instant. A job that arrived at any time up to and
        including now_ms may use this slot.
        """
        return NOTHING

    def on_alarm(self, now_ms: int, due_ms: int) -> Decision:
        """The time that the newest `Decision.alarm_ms` asked for, due_ms, has come; completions and arrivals of this instant are over."""
        return NOTHING

    def work_left(self, now_ms: int, job: int, bars: Sequence[Placement]) -> float:
        """Share from 0 to 1 of the work in the record of an open job that is not done; bars: those of its plan that end after now."""
        raise NotImplementedError(f"scheduler {self.name} does not say how far its jobs are")

    def let_go(self, now_ms: int) -> Decision:
        """Takes back what it has planned but in plans of jobs: lanes and groups. Another world begins (handover.py)."""
        return NOTHING

    def take_over(self, now_ms: int, before: BaseScheduler, kept: Mapping[int, list[Placement]]) -> None:
        """After `start`, in the middle of a run: which servers are away now, and that `kept` stand planned.

        before: the scheduler of the world that ends; only if it is the same one with the same parameters, and its class `keeps`, are
        plans kept. All other jobs that are open are offered after this, by `on_arrival`, with the work that is left.
        """

    def taken_over(self, now_ms: int) -> Decision:
        """After the last of them was offered."""
        return NOTHING

    def clone(self) -> BaseScheduler:
        """A copy after `start`, with a patience of its own, that `assume` may change. For schedulers with `quotes`."""
        raise NotImplementedError

    def assume(self, bars: np.ndarray) -> None:
        """After `start`: these bars, rows in the order of Placement, stand planned. For schedulers with `quotes`."""
        raise NotImplementedError

    def quote(self, now_ms: int, job: Job, most_workers: int | None = None) -> Reason:
        """What `on_arrival` would say to a job that arrives now, which changes nothing. For schedulers with `quotes`.

        most_workers: instead of the job's own limit of workers at a time.
        """
        raise NotImplementedError

    def offer(self, now_ms: int, job: Job, most_workers: int | None = None) -> Offer:
        """The beginning of `quote`: a scheduler may know it sooner than its reason. OutOfTime when `patience` ends."""
        self.patience.left()
        return Offer.of(self.quote(now_ms, job, most_workers))

    def admits_later(self, job: Job, slots: Iterable[int]) -> Iterator[bool]:
        """Whether `offer` would say yes to the job if it arrived as those slots begin, one after another."""
        for slot in slots:
            now_ms = slot * self.cluster.slot_ms
            yield self.offer(now_ms, replace(job, arrival_ms=now_ms)).admitted

    def prices(self, slots: np.ndarray) -> np.ndarray | None:
        """Current prices per whole unit, [slot, server, resource] for the slots asked, NaN where there is none."""
        return None

    def state(self) -> dict[str, Any]:
        """All that `restore` needs, as numpy arrays, numbers, strings, lists and dicts of these."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `state`, called after `start` with the same arguments."""


@cache
def schedulers() -> Mapping[str, type[BaseScheduler]]:
    """{name: class} of every file in algorithms/, in alphabetical order."""
    found: dict[str, type[BaseScheduler]] = {}
    for info in sorted(pkgutil.iter_modules(algorithms.__path__), key=lambda i: i.name):
        module = importlib.import_module(f"{algorithms.__name__}.{info.name}")
        for value in vars(module).values():
            if not (isinstance(value, type) and issubclass(value, BaseScheduler) and value.__module__ == module.__name__):
                continue
            if "name" not in vars(value):
                continue
            if value.name in found:
                raise UnknownName(
                    f"scheduler name {value.name!r} is used by {found[value.name].__module__} and {module.__name__}"
                )
            found[value.name] = value
    return found


def scheduler_class(name: str) -> type[BaseScheduler]:
    """The class called `name`; UnknownName lists the names that would work."""
    known = schedulers()
    if name not in known:
        raise UnknownName(f"unknown scheduler {name!r}; known: {', '.join(known)}")
    return known[name]


def build(name: str, given: Mapping[str, Any] | None = None) -> BaseScheduler:
    """A scheduler with parameters from `given` (text or values); UnknownName and ModelError say what would work."""
    cls = scheduler_class(name)
    return cls(parse_parameters(cls, given or {}))


def parse_parameters(cls: type[BaseScheduler], given: Mapping[str, Any]) -> Any:
    """`given` (strings as typed, or values) as cls.Parameters."""
    return parse_declared(f"scheduler {cls.name}", cls.Parameters, given)


def parse_declared(subject: str, declared: type, given: Mapping[str, Any]) -> Any:
    """`given` (strings as typed, or values) as an instance of `declared`, a dataclass whose fields are `parameter`s."""
    known = {f.name: f for f in fields(declared)}
    values: dict[str, Any] = {}
    for key, raw in given.items():
        if key not in known:
            names = ", ".join(known) or "none: it takes no parameters"
            raise UnknownName(f"{subject}: unknown parameter {key!r}; known: {names}")
        values[key] = _convert(subject, key, known[key].metadata, raw)
    return declared(**values)


def describe(declared: type) -> list[dict[str, Any]]:
    """The declaration of each `parameter` of a dataclass as plain data: forms, API and command-line help are made from it."""
    rows = []
    for f in fields(declared):
        default = None if f.default is MISSING else f.default
        rows.append(
            {
                "name": f.name,
                "default": default,
                **{k: v for k, v in f.metadata.items() if k != "type"},
                "type": f.metadata["type"].__name__,
            }
        )
    return rows


def parameter(default: Any, help: str, *, type: type | None = None, low: float | None = None, high: float | None = None,
              choices: Sequence[str] | None = None, unit: str = "") -> Any:  # fmt: skip
    """Declares one parameter of a scheduler: its type, default, range or choices, unit and help."""
    from dataclasses import field

    kind = type or default.__class__
    metadata = {"type": kind, "help": help, "low": low, "high": high, "choices": list(choices) if choices else None, "unit": unit,
                "optional": default is None}  # fmt: skip
    return field(default=default, metadata=metadata)


def check_parameter(name: str, metadata: Mapping[str, Any], value: Any) -> None:
    """Raises ModelError when the value is outside the declared range or choices."""
    from scheduling.model import ModelError

    if value is None and metadata["optional"]:
        return
    choices, low, high = metadata["choices"], metadata["low"], metadata["high"]
    if choices and value not in choices:
        raise ModelError(f"parameter {name} must be one of {', '.join(choices)}, got {value!r}")
    if low is not None and not value >= low:
        raise ModelError(f"parameter {name} must be >= {low}, got {value!r}")
    if high is not None and not value <= high:
        raise ModelError(f"parameter {name} must be <= {high}, got {value!r}")


_TRUTH = {"true": True, "yes": True, "1": True, "on": True, "false": False, "no": False, "0": False, "off": False}


def _convert(subject: str, key: str, metadata: Mapping[str, Any], raw: Any) -> Any:
    from scheduling.model import ModelError, shorten

    kind = metadata["type"]
    if (raw is None or raw == "") and metadata["optional"]:
        return None
    try:
        if raw is None:
            raise TypeError(raw)  # nothing is no text, though Python has one for it
        if kind is bool:
            return raw if isinstance(raw, bool) else _TRUTH[str(raw).strip().lower()]
        if kind in (int, float) and isinstance(raw, bool):
            raise TypeError(raw)  # true is no number, though Python takes it for 1
        if kind is int and isinstance(raw, float) and not raw.is_integer():
            raise ValueError(raw)
        return kind(raw)
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{subject}: parameter {key} must be of type {kind.__name__}, got {shorten(repr(raw))}") from error
