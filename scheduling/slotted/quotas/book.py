"""Book of quotas: what each queue may hold, what it holds, and which queues lend to each other.

Amounts are packed (kernel/resource_vector.py). A quota is the same share of every resource of the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduling.kernel.resource_vector import GUARD, fits, pack
from scheduling.model.values import ModelError, shorten

ALL = 100  # per cent
Cohort = tuple[str, ...]  # its queues; empty: all queues


def quotas_of(text: str) -> dict[str, int]:
    """{queue: per cent of the cluster} of "prod=60,dev=40"; ModelError when it is none or exceeds the cluster."""
    found: dict[str, int] = {}
    for part in filter(None, text.split(",")):
        queue, _, percent = part.strip().rpartition("=")
        if not queue or queue in found or not (percent.isascii() and percent.isdigit()):
            raise ModelError(
                "parameter quotas must name each queue once with its percentage, for example prod=60,dev=40; "
                f"got {shorten(repr(text))}"
            )
        found[queue] = int(percent)
    if sum(found.values()) > ALL:
        raise ModelError(f"parameter quotas must add up to at most 100 %, got {sum(found.values())} %")
    return found


def cohorts_of(text: str) -> dict[str, Cohort]:
    """{queue: its cohort} of "prod+dev,lab+course"; ModelError when a queue has no name or several cohorts."""
    found: dict[str, Cohort] = {}
    for part in filter(None, text.split(",")):
        cohort = tuple(part.strip().split("+"))
        for queue in cohort:
            if not queue or queue in found:
                raise ModelError(
                    "parameter cohorts must name each queue once, for example prod+dev,lab+course; "
                    f"got {shorten(repr(text))}"
                )
            found[queue] = cohort
    return found


class QuotaBook:
    """Quotas and use of the queues, and of their cohorts."""

    def __init__(
        self,
        total: Sequence[int],
        fields: int,
        percents: Mapping[str, int],
        other_percent: int,
        borrow_percent: int,
        cohorts: Mapping[str, Cohort],
    ) -> None:
        """total: amounts of the cluster; fields: the resources that count. No cohorts: all queues form one."""
        self.total, self.fields = total, fields
        self.percents, self.other_percent = percents, other_percent
        self.borrow_percent, self.cohorts = borrow_percent, cohorts
        self.used: dict[str, int] = {}
        self.lent: dict[Cohort, int] = {}  # what its queues hold
        self.quotas: dict[str, int] = {}
        self.limits: dict[str, int] = {}
        self.pools: dict[Cohort, int] = {}  # quotas of its queues; of all queues: the cluster

    def copy(self) -> QuotaBook:
        """Copy with a use of its own."""
        other = QuotaBook.__new__(QuotaBook)
        other.__dict__.update(self.__dict__)
        other.used, other.lent = dict(self.used), dict(self.lent)
        return other

    def cohort(self, queue: str) -> Cohort:
        """Cohort of a queue; a queue outside of all cohorts is its own."""
        return self.cohorts.get(queue, (queue,)) if self.cohorts else ()

    def take(self, queue: str, amounts: int) -> None:
        cohort = self.cohort(queue)
        self.used[queue] = self.used.get(queue, 0) + amounts
        self.lent[cohort] = self.lent.get(cohort, 0) + amounts

    def give(self, queue: str, amounts: int) -> None:
        self.take(queue, -amounts)

    def within(self, queue: str, amounts: int) -> bool:
        """True if the queue would stay within its quota."""
        return fits(self._quota(queue), self.used.get(queue, 0) + amounts)

    def allows(self, queue: str, amounts: int) -> bool:
        """True if the limit of borrowing and the quotas of the cohort allow it now."""
        return fits(self._limit(queue), self.used.get(queue, 0) + amounts) and self.available(queue, amounts)

    def ever(self, queue: str, amounts: int) -> bool:
        """True if the quotas allow it while nothing runs."""
        return fits(self._limit(queue), amounts) and fits(self._pool(self.cohort(queue)), amounts)

    def available(self, queue: str, amounts: int) -> bool:
        """True if this amount of the quotas of the cohort is not used."""
        cohort = self.cohort(queue)
        return fits(self._pool(cohort), self.lent.get(cohort, 0) + amounts)

    def borrowed(self, queue: str) -> int:
        """Guard bits of the resources of which the queue holds more than its quota."""
        return GUARD & ~(self._quota(queue) - self.used.get(queue, 0))

    def percent(self, queue: str) -> int:
        return self.percents.get(queue, self.other_percent)

    def _share(self, percent: int) -> int:
        return GUARD | pack([amount * percent // ALL for amount in self.total]) & self.fields

    def _quota(self, queue: str) -> int:
        if queue not in self.quotas:
            self.quotas[queue] = self._share(self.percent(queue))
        return self.quotas[queue]

    def _limit(self, queue: str) -> int:
        """Most that the queue may hold: its quota and what it may borrow."""
        if queue not in self.limits:
            self.limits[queue] = self._share(min(ALL, self.percent(queue) + self.borrow_percent))
        return self.limits[queue]

    def _pool(self, cohort: Cohort) -> int:
        if cohort not in self.pools:
            quotas = sum(self._quota(queue) & ~GUARD for queue in cohort)
            self.pools[cohort] = GUARD | quotas if cohort else self._share(ALL)
        return self.pools[cohort]


def uses(amounts: int) -> int:
    """Guard bits of the resources of which packed amounts have any."""
    return GUARD & ~(GUARD - amounts)
