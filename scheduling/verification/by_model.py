"""Table of rules by execution model, chosen by the model that the files name; none applies to another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduling.colocation.verifier import ColocationRules
from scheduling.model.values import shorten
from scheduling.observed.verifier import ObservedRules
from scheduling.slotted.verifier import SlottedRules
from scheduling.typed_workers.verifier import TypedWorkersRules
from scheduling.verification.rules import Row, Rules
from scheduling.verification.schema import STATED
from scheduling.verification.value_checks import row

RULES: dict[str, Rules] = {
    rules.name: rules for rules in (SlottedRules(), TypedWorkersRules(), ColocationRules(), ObservedRules())
}


def broken_execution(execution: Row) -> str | None:
    """Rule that the stated execution breaks, or None."""
    rules = RULES.get(execution["model"])
    if rules is None:
        return f"an object whose model is one of {', '.join(RULES)}, not {shorten(repr(execution['model']))}"
    return row({**STATED, **rules.states})(execution)


def no_rules(execution: Row, parameters: Row) -> str | None:
    """Reason why a run cannot be rechecked by what is stated, or None."""
    if (broken := broken_execution(execution)) is not None:
        return f"must be {broken}"
    return RULES[execution["model"]].missing(execution, parameters)


def check_stated(log: Iterable[Row], problems: list[str]) -> None:
    """Check that rules exist for every execution in the log."""
    for event in log:
        stated = event["data"].get("execution")
        if isinstance(stated, dict) and (broken := broken_execution(stated)) is not None:
            problems.append(
                f"events.jsonl: line {event['seq']}: {event['kind']} with an execution that must be {broken}"
            )


def files_of(execution: Any) -> tuple[str, ...]:
    """Additional files of an output by its execution model; none where the model is unknown."""
    model = execution.get("model") if isinstance(execution, dict) else None
    rules = RULES.get(model) if isinstance(model, str) else None
    return rules.files if rules is not None else ()
