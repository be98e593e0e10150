"""The command verify: finished outputs pass, and every change is found."""

import random
import re

import pytest

from tests.cases import cases
from tests.twin.builders import run
from tests.twin.headless.builders import change, line, mutated, removing, setting
from twin.files.outputs import FILES
from twin.management.commands.verify import problems_of
from twin.management.headless import one_line


def test_what_is_simulated_is_verified(original):
    assert sorted(path.name for path in original.iterdir()) == sorted(FILES)
    assert run("verify", original) == (0, [f"{original}: no problems found"], [])


METRICS = (
    "total_utility", "jobs", "admitted", "rejected", "completed", "mean_jct_ms", "median_jct_ms", "p95_jct_ms",
    "makespan_ms", "suspensions",
)  # fmt: skip


@pytest.mark.parametrize(("name", "edit"), [
    ("events.jsonl", lambda lines: lines.__setitem__(slice(None), ["garbage"])),
    ("events.jsonl", lambda lines: lines.clear()), ("events.jsonl", removing(slice(10, None))),
    ("events.jsonl", removing(5)), ("events.jsonl", removing(-1)), ("events.jsonl", line(1, setting("data", "job", 3))),
    ("events.jsonl", line(0, setting("data", "seed", 8))),
    *[("summary.json", setting("metrics", name, 1234.5)) for name in METRICS],
    ("summary.json", setting("metrics", "utilization", "gpu", 0.999)),
    ("summary.json", removing("metrics", "mean_jct_ms")), ("summary.json", removing("metrics")),
    ("summary.json", removing("scheduler")), ("summary.json", removing("parameters")),
    ("summary.json", setting("seed", 99)), ("summary.json", setting("scheduler", "nonesuch")),
    ("summary.json", setting("parameters", {"zz": 1})),
    ("summary.json", setting("certificate", {"kind": "x", "achieved": 1, "bound": 0, "ratio": 5})),
    ("summary.json", setting("wall_s", None)), ("summary.json", setting("decision_ms", {"p50": 3, "p95": 2, "max": 1})),
    ("summary.json", setting("extra", 1)), ("schedule.csv", lambda lines: lines.append(lines[1])),
    ("schedule.csv", removing(1)), ("schedule.csv", removing(slice(1, None))), ("schedule.csv", removing(0)),
    ("schedule.csv", lambda lines: lines.append("a,b\n")), ("schedule.csv", lambda lines: lines.append('"open\n')),
    ("decisions.jsonl", removing(0)), ("decisions.jsonl", lambda lines: lines.extend(lines[:])),
    ("decisions.jsonl", lambda lines: lines.clear()), ("decisions.jsonl", line(0, setting("kind", "foo"))),
    ("decisions.jsonl", line(0, setting("reason", "code", "foo"))),
    ("decisions.jsonl", line(0, setting("reason", "values", {}))), ("decisions.jsonl", line(0, setting("seq", 5))),
    ("decisions.jsonl", line(0, setting("job", {}))), ("decisions.jsonl", line(0, setting("reason", ""))),
    ("jobs.jsonl", line(0, lambda job: job.update(arrival_ms=job["arrival_ms"] + 1))), ("jobs.jsonl", removing(0)),
    ("jobs.jsonl", line(0, setting("gradient_mb", 1e308))),
    ("cluster.json", setting("servers", 0, "capacity", {"gpu": 0})), ("cluster.json", setting("slot_ms", 1000)),
    ("cluster.json", removing("horizon_slots")), ("cluster.json", setting("servers", [])),
])  # fmt: skip
def test_whatever_is_changed_is_noticed(copy, name, edit):
    change(copy / name, edit)
    code, problems, wrong = run("verify", copy)
    assert code == 1
    assert problems
    assert all(problems)
    assert re.fullmatch(r"verify: \d+ problems? in \S+( *, \d+ of them not shown)?", wrong[0])


def test_a_run_whose_scheduler_is_not_installed_is_verified_by_its_rules(copy):
    for name, edit in (
        ("summary.json", setting("scheduler", "nonesuch")),
        ("events.jsonl", line(0, setting("data", "scheduler", "nonesuch"))),
    ):
        change(copy / name, edit)
    assert run("verify", copy) == (0, [
        "summary.json: the types of parameters cannot be verified: scheduler 'nonesuch' is not available: no file "
        "nonesuch.py is installed with the schedulers",
        f"{copy}: no problems found",
    ], [])  # fmt: skip
    change(copy / "schedule.csv", removing(1))
    assert run("verify", copy)[0] == 1


def test_files_of_an_older_version_are_rechecked_by_the_scheduler_that_is_installed(copy):
    change(copy / "summary.json", removing("execution"))
    change(copy / "events.jsonl", line(0, removing("data", "execution")))
    assert run("verify", copy)[0] == 0
    change(copy / "summary.json", setting("scheduler", "nonesuch"))
    change(copy / "events.jsonl", line(0, setting("data", "scheduler", "nonesuch")))
    code, problems, _ = run("verify", copy)
    assert (code, problems) == (1, [
        "summary.json does not state the execution of scheduler 'nonesuch', and no scheduler of this name is "
        "installed: capacity and work cannot be verified; install the scheduler, or simulate again"
    ])  # fmt: skip


def test_an_execution_that_is_not_that_of_the_scheduler_is_noticed(copy):
    for name, edit in (
        ("summary.json", setting("execution", "final", 1)), ("summary.json", setting("execution", "kind", "lanes")),
        ("events.jsonl", line(0, setting("data", "execution", "packs", ["gpu"]))),
    ):  # fmt: skip
        change(copy / name, edit)
        assert any("execution" in problem for problem in run("verify", copy)[1])


def test_so_are_its_parameters(copy):
    for name, edit in (
        ("summary.json", setting("parameters", {"zz": 1})),
        ("events.jsonl", line(0, setting("data", "parameters", {"zz": 1}))),
    ):
        change(copy / name, edit)
    assert "unknown parameter 'zz'" in run("verify", copy)[1][-1]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_missing_or_no_text_is_named(copy, name):
    data = (copy / name).read_bytes()
    place = data.index(b"\n") + 4
    (copy / name).write_bytes(data[:place] + b"\xe9" + data[place:])
    assert run("verify", copy)[1] == [f"{name}: line 2, column 4: byte 0xe9 is not UTF-8; save the file as UTF-8"]
    (copy / name).write_bytes(data.decode().encode("utf-16"))
    assert run("verify", copy)[1] == [f"{name}: the text is UTF-16; save it as UTF-8"]
    (copy / name).unlink()
    assert run("verify", copy)[:2] == (1, [f"{name} is missing"])
    (copy / name).mkdir()
    assert run("verify", copy)[1] == [f"{name} cannot be read: Is a directory"]


def test_a_folder_that_is_none_is_bad_input(tmp_path):
    code, _, wrong = run("verify", tmp_path / "nowhere")
    assert (code, len(wrong)) == (2, 1)
    assert run("verify", tmp_path)[1] == [f"{name} is missing" for name in FILES]


def test_a_problem_is_one_short_line_whatever_it_is_about(copy):
    change(copy / "schedule.csv", lambda lines: lines.append(f'"a\nb\x1b[31m{"x" * 5_000}",,worker,w00,,1,,0,1\n'))
    (problem, *_), _ = run("verify", copy)[1:]
    assert problem.isprintable()
    assert len(problem) < 300
    assert one_line("a\n\x07\udcff" + "b" * 400) == "a\\n\\x07\\udcff" + "b" * 64 + "..."


def test_no_folder_makes_verify_fail(copy):
    """400 of them; whoever wants more raises the number."""
    files = {name: (copy / name).read_bytes() for name in FILES}
    rng = random.Random(5)
    for _ in range(cases(400, 60)):
        name = rng.choice(FILES)
        (copy / name).write_bytes(mutated(rng, name, files[name]))
        assert all(isinstance(problem, str) and problem for problem in problems_of(copy))
        (copy / name).write_bytes(files[name])
