"""Each reason that a scheduler gives has a sentence, and its numbers carry their units."""

import ast
from pathlib import Path

import pytest

import scheduling
from scheduling.reasons import SENTENCES, duration, sentence

PAYOFF = {
    "utility": 3.2, "cost": 7.85, "payoff": -4.65, "start_slot": 4, "finish_slot": 9, "workers_peak": 1, "cost_by_resource": [0] * 5,
    "cells": [[1, 0, 6, 2.5, 5.0]],
}  # fmt: skip

EXAMPLES = [
    ("payoff_not_positive", PAYOFF,
     "Rejected: the best schedule found (slots 4 to 9, at most 1 worker) is worth 3.20 and would use resources priced at 7.85, so its payoff "
     "of -4.65 is not positive. The dearest part is gpu on server w1 in slot 6: 5.00, at 2.5 per GPU."),
    ("fits_nowhere", {"role": "ps", "resource": "memory", "need": 64.0, "most": 60.0},
     "Rejected: one parameter server needs 64 GB of memory, and the largest server has 60 GB."),
    ("fits_nowhere_together", {"role": "worker", "need": [1.0, 0.0, 8.0, 0.0, 0.5]},
     "Rejected: no single server has room for one worker (1 GPU gpu, 8 GB memory, 0.5 Gbps bandwidth), though each amount exists "
     "somewhere."),
    ("missing_part", {"part": "ps"}, "Rejected: the job has no ps, which this scheduler needs."),
    ("ps_too_slow", {"worker_gbps": 5.0, "ps_gbps": 2.5},
     "Rejected: a worker sends 5 Gbps and a parameter server takes 2.5 Gbps, so it would need more parameter servers than workers."),
    ("gang_too_large", {"role": "worker", "count": 5, "most": 4},
     "Rejected: it asks for 5 workers at once, and the empty cluster has room for 4."),
    ("gang_fits_nowhere", {"workers": 1, "ps": 2},
     "Rejected: its 1 worker and 2 parameter servers do not fit the empty cluster together."),
    ("in_order", {"waited_ms": 90_000, "workers": 2, "ps": 1},
     "Started in order of arrival with 2 workers and 1 parameter server, after waiting 1 min 30 s."),
    ("horizon", {"horizon_slots": 100}, "Unfinished: the horizon of 100 slots ended first."),
    ("stuck", {}, "Unfinished: nothing more happens, and the job has no plan to finish."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "values", "text"), EXAMPLES)
def test_it_says_what_the_numbers_mean(code, values, text):
    assert sentence(code, values, ["w0", "w1"]) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (850, "850 ms"), (12_500, "12.5 s"), (60_000, "1 min"), (200_000, "3 min 20 s"), (18_600_000, "5 h 10 min"), (183_600_000, "2 d 3 h")],
)  # fmt: skip
def test_durations_are_said_as_people_say_them(ms, text):
    assert duration(ms) == text


def test_an_unknown_code_is_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no sentence for reason 'because'; known: .*fits_nowhere, "):
        sentence("because", {})


def test_every_code_in_the_source_has_a_sentence():
    """Every literal code given to Reason(...) anywhere in the package."""
    codes = set()
    for path in Path(scheduling.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Reason" and isinstance(node.args[0], ast.Constant):
                codes.add(node.args[0].value)
    assert {"fits_nowhere", "missing_part", "in_order"} <= codes
    assert codes <= set(SENTENCES)
