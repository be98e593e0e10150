"""Results on disk: complete or absent, whatever stops a command."""

import os
import resource
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from tests.twin.builders import run
from tests.twin.headless.builders import simulated, started
from twin.files import outputs
from twin.management.commands import simulate


def test_the_inputs_are_never_the_output(inputs):
    before = {path.name: path.read_bytes() for path in inputs.iterdir()}
    assert simulated(inputs, inputs)[2] == [
        f"simulate: --out {inputs} is the folder of the input cluster.json; choose another one"
    ]
    assert (
        "is the folder of the input jobs.jsonl"
        in run("import_trace", inputs / "jobs.jsonl", "--seed", 1, "--out", inputs)[2][0]
    )
    assert {path.name: path.read_bytes() for path in inputs.iterdir()} == before


def test_only_a_result_is_replaced(inputs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    assert simulated(inputs, out)[0] == 0  # an empty folder may be there
    assert simulated(inputs, out)[0] == 0  # and an earlier result
    assert sorted(os.listdir(tmp_path)) == ["out"]
    (out / "notes.txt").write_text("mine")
    assert (
        "contains 'notes.txt', which is not an output of this command; choose a new folder"
        in simulated(inputs, out)[2][0]
    )
    assert (out / "notes.txt").read_text() == "mine"
    assert simulated(inputs, out / "notes.txt")[2][0].endswith("is a file; choose a folder")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for place in (".", ".."):
        assert "is or contains the working directory; choose a new folder" in simulated(inputs, Path(place))[2][0]


@pytest.mark.parametrize("arguments", [
    ("generate", "--profile", "oasis", "--jobs", "1", "--seed", "1"), ("import_trace", "x", "--seed", "1"),
    ("simulate", "--cluster", "x", "--jobs", "x", "--scheduler", "fifo", "--seed", "1"),
], ids=lambda arguments: arguments[0])  # fmt: skip
def test_the_place_of_a_result_is_named(arguments):
    assert run(*arguments, "--out", "")[2] == ["Error: argument --out: must be named, got ''"]


def test_a_result_that_fails_half_way_leaves_the_earlier_one(inputs, tmp_path, monkeypatch):
    """The disk is full when schedule.csv is written."""
    out = tmp_path / "a" / "out"
    assert simulated(inputs, out)[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(*arguments):
        yield "job\n"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs, "schedule_lines", full)
    for place in (out, tmp_path / "b" / "c" / "out"):
        code, _, wrong = simulated(inputs, place, "oasis")
        remedy = "No space left on device; nothing was written; free some space, or choose a folder on another disk"
        assert (code, wrong) == (2, [f"simulate: {place}/schedule.csv: {remedy}"])
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))][:2] == ["a", "a/out"]
    assert os.listdir(tmp_path) == ["a"]
    assert os.listdir(tmp_path / "a") == ["out"]


def test_an_interrupt_between_is_one_line_and_leaves_the_earlier_one(inputs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    assert simulated(inputs, out)[0] == 0
    before = (out / "summary.json").read_bytes()

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulate, "summarize", interrupted)
    assert simulated(inputs, out, "oasis") == (130, [], ["interrupted"])
    assert ((out / "summary.json").read_bytes(), os.listdir(tmp_path)) == (before, ["out"])


COMMANDS = {
    "generate": lambda inputs, out: (
        "generate", "--profile", "oasis", "--jobs", 1_000, "--servers", 4, "--seed", 1, "--out", out,
    ),
    "simulate": lambda inputs, out: (
        "simulate", "--cluster", inputs / "cluster.json", "--jobs", inputs / "jobs.jsonl", "--scheduler", "oasis",
        "--seed", 1, "--out", out,
    ),
    "import_trace": lambda inputs, out: ("import_trace", inputs / "jobs.jsonl", "--seed", 1, "--out", out),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_files_larger_than_the_shell_allows_leave_nothing(inputs, tmp_path, name):
    limited = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4_096, 4_096))
    process = started(*COMMANDS[name](inputs, tmp_path / "deep" / "out"), preexec_fn=limited)
    _, wrong = process.communicate(timeout=60)
    assert process.returncode == 2
    assert (
        wrong
        == f"{name}: {tmp_path}/deep/out/jobs.jsonl: File too large; nothing was written; raise the limit of file "
        "sizes (ulimit -f)\n"
    )
    assert os.listdir(tmp_path) == []


def heard() -> None:
    """In a child: signals as in a terminal, whatever started the tests."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("number", "code", "message"), [(signal.SIGINT, 130, "interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_a_command_that_is_stopped_leaves_nothing(tmp_path, number, code, message):
    """A million jobs take minutes to draw; the folder beside shows that it has begun."""
    command = ("generate", "--profile", "oasis", "--jobs", 1_000_000, "--seed", 1, "--out", tmp_path / "out")
    process = started(*command, preexec_fn=heard)
    while not os.listdir(tmp_path) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    _, wrong = process.communicate(timeout=120)
    assert (process.returncode, wrong, os.listdir(tmp_path)) == (code, message, [])
