"""Rows with separators that nobody could know before the call.

Users choose names and accounts, and they may hold any character, line breaks too: with a fixed separator they could
forge rows.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from scheduling.reporting.quantities import counted
from twin.connectors.facts import ConnectorError


@dataclass(frozen=True, slots=True)
class Separators:
    """Ends of a column and of a row: a random token of each call."""

    token: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def column(self) -> str:
        return f"@{self.token}@"

    @property
    def row(self) -> str:
        return f"@{self.token}+"

    def format(self, columns: tuple[str, ...]) -> str:
        """The argument of `squeue -O`, which takes an end for each column."""
        return ",".join([*(f"{name}:{self.column}" for name in columns[:-1]), f"{columns[-1]}:{self.row}"])

    def rows(self, command: str, text: str) -> list[str]:
        """Rows of the answer; ConnectorError when it breaks off."""
        *rows, rest = text.split(f"{self.row}\n")
        if rest.strip():
            raise ConnectorError(
                f"{command}: the answer ends in the middle of a row, or is not a table: {rest.strip()[:100]!r}"
            )
        return rows

    def cells(self, command: str, row: str, columns: tuple[str, ...]) -> dict[str, str]:
        """The row's cells by column."""
        cells = row.split(self.column)
        if len(cells) != len(columns):
            raise ConnectorError(
                f"{command}: a row has {counted(len(cells), 'column')} instead of {len(columns)}: "
                f"{' '.join(cells)[:100]!r}"
            )
        return {column: cell.strip() for column, cell in zip(columns, cells, strict=True)}
