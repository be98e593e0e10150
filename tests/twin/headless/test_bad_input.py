"""Bad input of simulate: one line with file, line and rule."""

import os
import random
import re
import shutil
from pathlib import Path

import pytest

from tests.cases import cases
from tests.twin.headless.builders import change, line, mutated, setting, simulated
from twin.management.commands.verify import problems_of


@pytest.mark.parametrize("scheduler", ["oasis", "fifo"])
@pytest.mark.thorough
def test_any_job_is_simulated_or_refused_with_its_line(inputs, tmp_path, scheduler):
    """150 changed inputs: exit 0 and a result that verifies, or exit 2, one line, and nothing left."""
    files = {name: (inputs / name).read_bytes() for name in ("cluster.json", "jobs.jsonl")}
    rng = random.Random(6)
    changed = tmp_path / "changed"
    changed.mkdir()
    for _ in range(cases(100, 25)):
        for name, data in files.items():
            (changed / name).write_bytes(data)
        name = rng.choice(["cluster.json", "jobs.jsonl", "jobs.jsonl"])
        (changed / name).write_bytes(mutated(rng, name, files[name]))
        code, _, wrong = simulated(changed, tmp_path / "out", scheduler)
        if code:
            assert (code, len(wrong), sorted(os.listdir(tmp_path))) == (2, 1, ["changed"])
            assert wrong[0].startswith("simulate: ")
        else:
            assert problems_of(tmp_path / "out") == []
            shutil.rmtree(tmp_path / "out")


@pytest.mark.parametrize(("field", "value", "rule"), [
    ("minibatch_ms", 1e308, "must be a number from 1e-9 to 2^53, got 1e+308"),
    ("gradient_mb", 1e30, "must be a number from 0 to 2^53, got 1e+30"),
    ("utility", {"priority": 1e308, "sensitivity": 0, "target_slots": 0},
     "priority must be a number from 1e-9 to 2^53, got 1e+308"),
    ("epochs", 2**53, "must be at most 2^53 ms, got "), ("x" * 500, 1, "unknown key 'xxxx"),
    ("model", 5, "must be text, got 5"),
])  # fmt: skip
def test_a_number_beyond_its_limit_is_refused_with_line_and_column(inputs, tmp_path, field, value, rule):
    changed = Path(shutil.copytree(inputs, tmp_path / "changed"))
    change(changed / "jobs.jsonl", line(2, lambda job: job.update({field: value})))
    code, _, wrong = simulated(changed, tmp_path / "out", "oasis")
    assert code == 2
    column = 1 if len(field) > 100 else (changed / "jobs.jsonl").read_text().splitlines()[2].index(f'"{field}"') + 1
    assert wrong[0].startswith(f"simulate: jobs.jsonl: line 3, column {column}: ")
    assert rule in wrong[0]
    assert len(wrong[0]) < 900


def test_a_run_without_an_end_is_refused(inputs, tmp_path):
    """Jobs of 285,000 years one after the other: the second would end beyond 2^53 ms."""
    changed = Path(shutil.copytree(inputs, tmp_path / "changed"))
    change(changed / "cluster.json", setting("horizon_slots", None))
    huge = {
        "epochs": 1,
        "num_chunks": 1,
        "minibatches_per_chunk": 1,
        "minibatch_ms": 2**53 - 2**23,
        "gradient_mb": 0,
        "requested_workers": 1,
    }
    for number in range(12):
        change(changed / "jobs.jsonl", line(number, lambda job: job.update(huge)))
    code, _, wrong = simulated(changed, tmp_path / "out")
    assert code == 2
    assert re.fullmatch(
        r"simulate: job j\d+ would run until \d+ ms, beyond 2\^53; set horizon_slots, or reduce the work of jobs",
        wrong[0],
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("name", "encoded", "sentence"), [
    ("jobs.jsonl", lambda text: text.encode("utf-16"), "jobs.jsonl: the text is UTF-16; save it as UTF-8"),
    ("cluster.json", lambda text: text.encode("utf-16"), "cluster.json: the text is UTF-16; save it as UTF-8"),
    ("jobs.jsonl", lambda text: text.encode().replace(b'"id":"j0005"', b'"id":"\xe95"'),
     "jobs.jsonl: line 5, column 8: byte 0xe9 is not UTF-8"),
    ("cluster.json", lambda text: text.encode().replace(b"oasis", b"o\xe9"),
     "cluster.json: line 2, column 13: byte 0xe9 is not UTF-8"),
    ("jobs.jsonl", lambda text: b"\0" * 100, "jobs.jsonl: line 1, column 1: a NUL byte"),
])  # fmt: skip
def test_text_in_another_encoding_is_named(inputs, tmp_path, name, encoded, sentence):
    changed = Path(shutil.copytree(inputs, tmp_path / "changed"))
    (changed / name).write_bytes(encoded((inputs / name).read_text()))
    code, _, wrong = simulated(changed, tmp_path / "out")
    assert code == 2
    assert wrong[0].startswith(f"simulate: {sentence}")
