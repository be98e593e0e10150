"""The plan of a chaos test: which faults, on what and for how long; the same seed gives the same plan."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

SECONDS = (
    0.5,
    1.0,
    2.0,
    4.0,
    12.0,
)  # of faults that last; a process that is stopped for longer than HUNG_S is replaced
PROCESSES = (
    "pool child", "worker for runs", "long worker", "background worker", "background child", "ticker", "follower",
    "web", "broker",
)  # fmt: skip
# fault: (what it acts on, its share of the plan)
KINDS: dict[str, tuple[tuple[str, ...], int]] = {
    "kill": (PROCESSES, 8),
    "kill all": (("supervisor",), 1),
    "stop": (PROCESSES, 5),
    "flush": (("broker",), 1),
    "cut connections": (("broker", "database"), 2),
    "restart": (("database",), 2),
    "lock": (("database",), 2),
    "fill": (("disk",), 2),
    "slow down": (("disk",), 1),
    "set back": (("clock",), 2),
}
ALONE = ("kill all", "slow down")  # faults that are not combined with another one
BOTH = 0.3  # share of the steps with a second fault in the middle of the first


@dataclass(frozen=True)
class Fault:
    """A fault of a plan."""

    kind: str
    target: str
    seconds: float

    def __str__(self) -> str:
        lasts = (
            "" if self.kind.startswith("kill") or self.kind in ("flush", "cut connections") else f" {self.seconds:g} s"
        )
        return f"{self.kind} {self.target}{lasts}"


def planned(seed: int, count: int, possible: Collection[tuple[str, str]]) -> list[tuple[Fault, ...]]:
    """`count` faults of the possible (kind, target) in steps of one or two; each comes once before one repeats.

    A plan of fewer faults than there are possible ones is a sample of them.
    """
    chance = random.Random(seed)
    faults: list[Fault] = []
    while len(faults) < count:
        weighted = [pair for pair in possible for _ in range(_copies(pair, possible))]
        chance.shuffle(weighted)
        order = sorted(range(len(weighted)), key=lambda i: weighted[:i].count(weighted[i]))  # first each one once
        faults += [Fault(*weighted[i], chance.choice(SECONDS)) for i in order]
    steps: list[tuple[Fault, ...]] = []
    for fault in faults[:count]:
        alone = fault.kind in ALONE or (steps and (len(steps[-1]) > 1 or steps[-1][0].kind in ALONE))
        same = steps and steps[-1][0].target == fault.target
        if steps and not alone and not same and chance.random() < BOTH:
            steps[-1] = (*steps[-1], fault)
        else:
            steps.append((fault,))
    return steps


def _copies(pair: tuple[str, str], possible: Collection[tuple[str, str]]) -> int:
    """How often a fault is in one round: the share of its kind, divided among its targets."""
    targets = sum(kind == pair[0] for kind, _ in possible)
    return max(1, round(KINDS[pair[0]][1] / targets))
