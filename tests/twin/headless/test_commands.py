"""Other commands without a browser: generate, bench, login links, exports."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.twin.builders import run
from tests.twin.headless.builders import change, line, simulated, started
from twin.management.commands.verify import problems_of


@pytest.mark.parametrize(("option", "value", "sentence"), [
    ("--servers", 10**9, "servers of a workload must be at most 20,000, got 1,000,000,000"),
    ("--jobs", 10**9, "jobs of a workload must be at most 1,000,000"),
    ("--horizon-slots", 2**53, "slot_ms x horizon_slots of a workload must be at most 9,007,199,254,740,992"),
    ("--slot-ms", 2**53, "slot_ms of a workload must be at most 31,536,000,000"),
    ("--servers", 1, "servers of a workload must be at least 2, got 1"),
    ("--profile", "x" * 400, "unknown profile 'xxx"),
])  # fmt: skip
def test_a_workload_that_is_too_large_is_refused_with_the_limit(tmp_path, option, value, sentence):
    given = {"--profile": "oasis", "--jobs": 3, "--seed": 1, "--out": tmp_path / "out", option: value}
    code, _, wrong = run("generate", *(part for pair in given.items() for part in pair))
    assert (code, len(wrong), os.listdir(tmp_path)) == (2, 1, [])
    assert wrong[0].startswith("generate: ")
    assert sentence in wrong[0]
    assert len(wrong[0]) < 300


def test_a_generated_workload_of_the_longest_slots_is_whole(tmp_path):
    assert (
        run(
            "generate",
            "--profile",
            "oasis",
            "--variant",
            "literal",
            "--jobs",
            50,
            "--seed",
            1,
            "--slot-ms",
            31_536_000_000,
            "--out",
            tmp_path / "out",
        )[0]
        == 0
    )


def test_the_bench_tries_its_file_before_it_measures(tmp_path):
    code, lines, wrong = run("bench", "--only", "certificate", "--json", tmp_path / "nowhere" / "x.json")
    assert (code, lines, wrong) == (2, [], [f"bench: {tmp_path}/nowhere/x.json: No such file or directory"])
    code, lines, wrong = run("bench", "--only", "foo")
    assert (code, lines) == (2, [])
    assert wrong[0].startswith("bench: unknown benchmark 'foo'; known: ")


def test_the_bench_writes_its_file_when_it_has_measured(tmp_path, monkeypatch):
    import benchmarks

    class Row:
        TITLE = "a row"

        @staticmethod
        def run():
            return [benchmarks.Figure("speed", 2.0, "m/s", 1.0, at_least=True)]

    monkeypatch.setattr(benchmarks, "names", lambda: ["row"])
    monkeypatch.setattr(benchmarks, "row", lambda name: Row)
    assert run("bench", "--json", tmp_path / "x.json")[0] == 0
    assert json.loads((tmp_path / "x.json").read_bytes())["rows"][0]["figures"][0]["value"] == 2.0
    monkeypatch.setattr(Row, "run", staticmethod(lambda: (_ for _ in ()).throw(KeyboardInterrupt)))
    assert run("bench", "--json", tmp_path / "y.json")[0] == 130
    assert os.listdir(tmp_path) == ["x.json"]


def test_names_that_a_spreadsheet_takes_for_formulas_come_back(inputs, tmp_path):
    changed = Path(shutil.copytree(inputs, tmp_path / "changed"))
    for number, name in enumerate(("=a", "'=a", "''+b", "'c", "@")):
        change(changed / "jobs.jsonl", line(number, lambda job, name=name: job.update(id=name)))
    for scheduler in ("oasis", "fifo"):
        assert simulated(changed, tmp_path / "out", scheduler)[0] == 0
        assert problems_of(tmp_path / "out") == []


def test_a_login_link_of_no_database_is_one_line(tmp_path):
    process = started("login_link", env={"PATH": os.environ["PATH"], "TWIN_VAR_DIR": str(tmp_path)})
    _, wrong = process.communicate(timeout=60)
    assert process.returncode == 1
    assert len(wrong.splitlines()) == 1
    assert "`manage.py migrate` prepares it" in wrong


def test_pd_ors_replays_the_arrivals_and_classes_of_a_trace(inputs, tmp_path):
    """Drawn from the trace's arrivals, scaled to the horizon; the mix is an option of its own."""
    made = ("generate", "--profile", "pd-ors", "--jobs", 3, "--servers", 4, "--seed", 1, "--mix", "30/69/1")
    assert run(*made, "--trace", inputs / "jobs.jsonl", "--out", tmp_path / "out")[0] == 0
    replayed = [json.loads(line) for line in (tmp_path / "out" / "jobs.jsonl").read_bytes().splitlines()]
    assert run(*made, "--out", tmp_path / "drawn")[0] == 0
    drawn = [json.loads(line) for line in (tmp_path / "drawn" / "jobs.jsonl").read_bytes().splitlines()]
    assert len(replayed) == len(drawn) == 3
    assert [job["arrival_ms"] for job in replayed] != [job["arrival_ms"] for job in drawn]
    code, _, wrong = run(
        "generate", "--profile", "oasis", "--jobs", 2, "--seed", 1, "--mix", "30/69/1", "--out", tmp_path / "x"
    )
    assert (code, wrong) == (2, ["generate: --mix is an option of the profile pd-ors, not of oasis"])
