"""Sentence of a decision reason, from its code and numbers. Each execution model declares its own sentences.

A scheduler declares those that only it gives, with codes that begin with its name (`BaseScheduler.reasons`).
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduling.colocation.reasons import COLOCATION
from scheduling.kernel.registry import names, scheduler_class
from scheduling.observed.reasons import OBSERVED
from scheduling.reporting.common_reasons import COMMON
from scheduling.reporting.sentences import Values, by_code
from scheduling.slotted.reasons import SLOTTED
from scheduling.typed_workers.reasons import TYPED_WORKERS

SENTENCES = by_code((COMMON, SLOTTED, TYPED_WORKERS, COLOCATION, OBSERVED))


def sentence(code: str, values: Values, servers: Sequence[str] = ()) -> str:
    """The reason as an English sentence with units; ValueError for a code without a sentence.

    servers: names of the cluster's servers by index, for reasons that refer to servers.
    """
    if code in SENTENCES:
        declared = SENTENCES[code]
        return declared.by_code[code](values) + declared.ending(values, servers)
    scheduler = code.partition(".")[0]
    own = scheduler_class(scheduler).reasons if scheduler in names() else {}
    if code not in own:
        raise ValueError(f"no sentence for reason {code!r}; known: {', '.join(sorted([*SENTENCES, *own]))}")
    return own[code](values)


def readable(code: str, values: Values, servers: Sequence[str] = ()) -> str:
    """The sentence for display; without one, as of a scheduler no longer installed, the code and its numbers."""
    try:
        return sentence(code, values, servers)
    except (ValueError, KeyError):
        numbers = ", ".join(f"{name} {value}" for name, value in values.items())
        return f"Reason {code}{f': {numbers}' if numbers else ''}."
