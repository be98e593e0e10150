"""Host list expressions: `edge[2-3,07],gpu1` names edge2, edge3, edge07 and gpu1."""

from __future__ import annotations

import re
from itertools import product

from twin.connectors.facts import ConnectorError

MAX_HOSTS = 100_000
PARTS = re.compile(r"\[([^\[\]]*)\]|([^\[\],\s]+)|(,)")


def hosts(expression: str) -> tuple[str, ...]:
    """Names that the expression stands for, in its order; several brackets in a name multiply."""
    names: list[str] = []
    parts: list[list[str]] = []
    position = 0
    while position < len(expression):
        found = PARTS.match(expression, position)
        if found is None:
            raise ConnectorError(
                f"host list {expression[:100]!r} cannot be read at character {position + 1}; expected as in edge[2-3,7]"
            )
        position = found.end()
        if found[3]:
            names += _joined(parts, expression)
            parts = []
        else:
            parts.append([found[2]] if found[1] is None else numbers(found[1], expression))
    return (*names, *_joined(parts, expression))


def numbers(ranges: str, whole: str) -> list[str]:
    """`2-3,07` as ["2", "3", "07"]: leading zeros stay, a step as in 0-8:4 counts."""
    found: list[str] = []
    for part in ranges.split(","):
        match = re.fullmatch(r"(\d+)(?:-(\d+)(?::(\d+))?)?", part, re.ASCII)
        first, last, step = (int(match[1]), int(match[2] or match[1]), int(match[3] or 1)) if match else (1, 0, 1)
        if match is None or last < first or step < 1 or (last - first) // step + len(found) >= MAX_HOSTS:
            raise ConnectorError(
                f"range {part[:50]!r} in {whole[:100]!r} cannot be read; "
                f"expected as in 2-7, at most {MAX_HOSTS:,} numbers"
            )
        found += [str(number).zfill(len(match[1])) for number in range(first, last + 1, step)]
    return found


def _joined(parts: list[list[str]], whole: str) -> list[str]:
    size = 1
    for part in parts:
        size *= len(part)
    if size > MAX_HOSTS:
        raise ConnectorError(f"host list {whole[:100]!r} names more than {MAX_HOSTS:,} hosts")
    return ["".join(pieces) for pieces in product(*parts)] if parts else []
