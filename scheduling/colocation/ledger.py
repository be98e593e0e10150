"""Ledger of co-location: jobs of a group share whole machines, so no amount of a resource can run out."""

from __future__ import annotations

from scheduling.kernel.ledger import Ledger
from scheduling.model.bars import Placement


class MachineLedger(Ledger):
    """Ledger of plans on machines that take the role.

    The verifier checks from `grouped` events which jobs share one.
    """

    def _take(self, now_ms: int, bar: Placement) -> None:
        """Empty: machines are shared."""

    def _give(self, now_ms: int, bar: Placement) -> None:
        """Empty: machines are shared."""
