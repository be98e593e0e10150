"""Each reason that a scheduler gives has a sentence, and its numbers carry their units."""

import ast
import re
from pathlib import Path

import pytest

import scheduling
from scheduling.kernel.registry import schedulers
from scheduling.reporting.quantities import duration
from scheduling.reporting.reasons import SENTENCES, sentence
from scheduling.reporting.sentences import Sentences, by_code

LABELS = Path(__file__).resolve().parents[3] / "static/js/run/drawer/reason-label.js"

PAYOFF = {
    "utility": 3.2, "cost": 7.85, "payoff": -4.65, "start_slot": 4, "finish_slot": 9, "workers_peak": 1,
    "cost_by_resource": [0] * 5, "cells": [[1, 0, 6, 2.5, 5.0]],
}  # fmt: skip

EXAMPLES = [
    ("payoff_not_positive", PAYOFF,
     "Rejected: its utility of 3.20 does not exceed its cost of 7.85 (payoff −4.65). Best schedule found: slots 4 to "
     "9, at most 1 worker. Highest cost: GPU on server w1 in slot 6, 5.00 at 2.5 per GPU."),
    ("payoff_not_positive",
     PAYOFF | {"utility": 3e-13, "cost": 1.1, "payoff": -1.1, "cells": [[1, 2, 6, 2.6e-5, 0.004]]},
     "Rejected: its utility of 3.00e-13 does not exceed its cost of 1.10 (payoff −1.10). Best schedule found: slots 4 "
     "to 9, at most 1 worker."),
    ("payoff_not_positive", PAYOFF | {"utility": 0.0, "cost": 0.0, "payoff": 0.0, "cells": []},
     "Rejected: its utility of 0.00 does not exceed its cost of 0.00 (payoff 0.00). Best schedule found: slots 4 "
     "to 9, at most 1 worker."),
    ("payoff_positive", PAYOFF | {"utility": 5.0, "cost": 4.9996, "payoff": 0.0004, "workers_peak": 2},
     "Admitted: its utility of 5.00000 exceeds its cost of 4.99960 (payoff 0.00040). Best schedule found: slots 4 "
     "to 9, at most 2 workers. Highest cost: GPU on server w1 in slot 6, 5.00 at 2.5 per GPU."),
    ("payoff_not_positive", PAYOFF | {"utility": 0.004, "cost": 0.138, "payoff": -0.134, "cells": []},
     "Rejected: its utility of 0.004 does not exceed its cost of 0.138 (payoff −0.134). Best schedule found: slots 4 "
     "to 9, at most 1 worker."),
    ("fits_nowhere", {"role": "ps", "resource": "memory", "need": 64.0, "most": 60.0},
     "Rejected: one parameter server needs 64 GB of memory; the largest server has 60 GB."),
    ("fits_nowhere_together", {"role": "worker", "need": [1.0, 0.0, 8.0, 0.0, 0.5]},
     "Rejected: no single server has capacity for one worker (1 GPU, 8 GB of memory, 0.5 Gbps of bandwidth), "
     "although each amount is available on some server."),
    ("missing_part", {"part": "ps"}, "Rejected: the job has no ps, which this scheduler requires."),
    ("ps_too_slow", {"worker_gbps": 5.0, "ps_gbps": 2.5},
     "Rejected: a worker sends 5 Gbps and a parameter server receives 2.5 Gbps, so the job would need more parameter "
     "servers than workers."),
    ("gang_too_large", {"role": "worker", "count": 5, "most": 4},
     "Rejected: requests 5 workers at once; the empty cluster has capacity for 4."),
    ("gang_fits_nowhere", {"workers": 1, "ps": 2},
     "Rejected: its 1 worker and 2 parameter servers do not fit the empty cluster together."),
    ("in_order", {"waited_ms": 90_000, "workers": 2, "ps": 1},
     "Started in order of arrival with 2 workers and 1 parameter server, 1m 30s after its arrival."),
    ("out_of_order", {"waited_ms": 0, "workers": 1, "ps": 1},
     "Started ahead of earlier jobs that do not fit, with 1 worker and 1 parameter server, without waiting."),
    ("reward_exceeds_cost", {"rest_slots": 32, "beside": False, "value": 2.5e-9, "cost": 0.0, "threshold": 0.0},
     "Admitted: needs 32 slots and does not fit in addition to the running jobs. Its discounted utility of 2.50e-9 "
     "minus the loss of 0.00 to other jobs is more than 0."),
    ("shortest_first", {"workers": 4, "servers": 4, "load_ms": 0, "again": True, "left_ms": 7_200_000},
     "Resumed with 4 workers on 4 servers: its remaining work is 2h, and no waiting job of its type with less "
     "remaining work fits."),
    ("no_worker_of_type", {"type": "", "types": ["any"]},
     "Rejected: no server has a worker; without declared types of workers, each GPU is one."),
    ("outranked", {"workers": 16, "by": 2, "by_id": "j3"},
     "Preempted: job j3 has a higher priority, and too few workers remain free for the gang of 16 workers. "
     "Completed work is kept."),
    ("replanning.planned", {"utility": 4.2e-9, "start_slot": 3, "finish_slot": 7, "workers_peak": 2},
     "Planned: slots 3 to 7, at most 2 workers, for a utility of 4.20e-9."),
    ("replanning.hopeless", {"payoff": -0.004},
     "Rejected: its payoff would be −0.004 even on an empty cluster, and falls as time passes."),
    ("ended", {"outcome": "lost"}, "Ended at an unknown time after the cluster last reported it."),
    ("horizon", {"horizon_slots": 100}, "Unfinished: the horizon of 100 slots ended before completion."),
    ("stuck", {}, "Unfinished: no events remain, and no plan completes the job."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "values", "text"), EXAMPLES)
def test_it_says_what_the_numbers_mean(code, values, text):
    assert sentence(code, values, ["w0", "w1"]) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (850, "850 ms"), (12_500, "12.5 s"), (60_000, "1m"), (200_000, "3m 20s"), (18_600_000, "5h 10m"),
     (183_600_000, "2d 3h")],
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
            if (
                isinstance(node, ast.Call)
                and getattr(node.func, "id", "") == "Reason"
                and isinstance(node.args[0], ast.Constant)
            ):
                codes.add(node.args[0].value)
    assert {"fits_nowhere", "missing_part", "in_order"} <= codes
    own = {code for cls in schedulers().values() for code in cls.reasons}
    assert codes <= set(SENTENCES) | own


def test_every_code_and_no_other_has_a_label_in_the_table_of_jobs():
    labels = re.findall(r"^  '?([\w.]+)'?: '.+',$", LABELS.read_text(), flags=re.MULTILINE)
    assert sorted(labels) == sorted([*SENTENCES, *(code for cls in schedulers().values() for code in cls.reasons)])


def test_a_code_that_two_families_declare_is_refused():
    mine, theirs = Sentences("mine", {"new": str, "old": str}), Sentences("theirs", {"old": str})
    assert by_code((mine,)) == {"new": mine, "old": mine}
    with pytest.raises(ValueError, match="reason 'old' must be declared once; mine and theirs both do"):
        by_code((mine, theirs))


def test_every_family_declares_its_reasons_in_its_own_room():
    assert {one.owner for one in SENTENCES.values()} == {
        "common",
        "slotted",
        "typed_workers",
        "colocation",
        "observed",
    }
    assert (SENTENCES["in_order"].owner, SENTENCES["stuck"].owner) == ("slotted", "common")
