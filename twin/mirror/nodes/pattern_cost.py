"""Cost of a regular expression: how many ways a text can be tried before it is found not to match.

Python's matcher tries them one after the other and cannot be interrupted, so `(a+)+b` stops a whole process. A pattern
whose ways multiply too far is refused before it is used.
"""

from __future__ import annotations

import re
from re import _constants as codes  # type: ignore[attr-defined]  # not in the stubs
from re import _parser as parser  # type: ignore[attr-defined]  # not in the stubs
from typing import Any

MAX_LENGTH = 200  # of a pattern
TEXT = 64  # characters of a usual name: what an unbounded repetition counts for
MAX_WAYS = TEXT**3 * 8  # three unbounded repetitions and a few optional parts
REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}


def why_not(pattern: str) -> str:
    """Reason why the pattern must not be used, as the end of a sentence that begins with its name; "" = it may be."""
    if len(pattern) > MAX_LENGTH:
        return f"must have at most {MAX_LENGTH:,} characters, got {len(pattern):,}"
    try:
        parsed = parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"must be a regular expression: {error}, got {pattern!r}"
    if _ways(parsed) > MAX_WAYS:
        rule = "at most three repetitions such as .*, and none inside another"
        return f"would take too long on some names: use {rule}; got {pattern!r}"
    return ""


def _ways(parsed: Any) -> int:
    """Ways to match a text in the worst case; capped, so that numbers stay small."""
    ways = 1
    for code, argument in parsed:
        ways = min(ways * _of_one(code, argument), MAX_WAYS + 1)
    return ways


def _of_one(code: Any, argument: Any) -> int:
    if code in REPEATS:
        low, high, body = argument
        counts = min(int(high), TEXT) - min(int(low), TEXT) + 1
        inner = _ways(body)
        return counts if inner == 1 else min(counts * inner ** min(int(high), TEXT), MAX_WAYS + 1)
    if code is codes.SUBPATTERN:
        return _ways(argument[-1])
    if code is codes.BRANCH:
        return sum(_ways(branch) for branch in argument[1])
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return _ways(argument[1])
    if code is codes.ATOMIC_GROUP:
        return _ways(argument)
    if code is codes.GROUPREF_EXISTS:
        return _ways(argument[1]) + (_ways(argument[2]) if argument[2] else 1)
    return 1
