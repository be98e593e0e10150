"""The commands without a browser: good runs verify, bad input is one line, and a result is whole or absent."""

import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from copy import deepcopy
from pathlib import Path

import pytest

from tests.twin.builders import run
from twin.files import outputs
from twin.files.outputs import FILES
from twin.management.commands import simulate
from twin.management.commands.verify import problems_of
from twin.management.headless import one_line

ROOT = Path(__file__).resolve().parents[2]


def simulated(inputs, out, scheduler="fifo", *more):
    return run(
        "simulate",
        "--cluster",
        inputs / "cluster.json",
        "--jobs",
        inputs / "jobs.jsonl",
        "--scheduler",
        scheduler,
        "--seed",
        7,
        "--out",
        out,
        *more,
    )


def started(*arguments, **options):
    """The command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *map(str, arguments)],
        cwd=ROOT,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    )


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("headless") / "inputs"
    assert run("generate", "--profile", "oasis", "--jobs", 12, "--servers", 6, "--seed", 7, "--out", folder)[0] == 0
    return folder


@pytest.fixture(scope="module", params=["oasis", "fifo"])
def original(request, inputs):
    folder = inputs.parent / request.param
    assert simulated(inputs, folder, request.param)[0] == 0
    return folder


@pytest.fixture
def copy(original, tmp_path):
    return Path(shutil.copytree(original, tmp_path / "result"))


def change(path, edit):
    """Edits the value of a .json, or the lines of another file."""
    if path.suffix == ".json":
        value = json.loads(path.read_bytes())
        edit(value)
        path.write_text(json.dumps(value))
    else:
        lines = path.read_text().splitlines(keepends=True)
        edit(lines)
        path.write_text("".join(lines))


def line(number, edit):
    """An edit of one object of a .jsonl."""

    def edited(lines):
        value = json.loads(lines[number])
        edit(value)
        lines[number] = json.dumps(value) + "\n"

    return edited


def setting(*path):
    """An edit that puts the last of the path behind the others."""
    *keys, last, value = path

    def edit(target):
        for key in keys:
            target = target[key]
        target[last] = value

    return edit


def removing(*path):
    *keys, last = path

    def edit(target):
        for key in keys:
            target = target[key]
        del target[last]

    return edit


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


def test_a_scheduler_that_the_log_invents_as_well_is_unknown(copy):
    for name, edit in (
        ("summary.json", setting("scheduler", "nonesuch")),
        ("events.jsonl", line(0, setting("data", "scheduler", "nonesuch"))),
    ):
        change(copy / name, edit)
    assert run("verify", copy)[1][-1].startswith("summary.json: unknown scheduler 'nonesuch'; known: ")


def test_files_of_an_older_version_are_rechecked_by_the_scheduler_that_is_installed(copy):
    change(copy / "summary.json", removing("execution"))
    change(copy / "events.jsonl", line(0, removing("data", "execution")))
    assert run("verify", copy)[0] == 0
    change(copy / "summary.json", setting("scheduler", "nonesuch"))
    change(copy / "events.jsonl", line(0, setting("data", "scheduler", "nonesuch")))
    code, problems, _ = run("verify", copy)
    assert (code, problems) == (1, [
        "summary.json: does not state the execution of scheduler 'nonesuch', and no scheduler of this name is "
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
    assert run("verify", copy)[:2] == (1, [f"{name}: is missing"])
    (copy / name).mkdir()
    assert run("verify", copy)[1] == [f"{name}: cannot be read: Is a directory"]


def test_a_folder_that_is_none_is_bad_input(tmp_path):
    code, _, wrong = run("verify", tmp_path / "nowhere")
    assert (code, len(wrong)) == (2, 1)
    assert run("verify", tmp_path)[1] == [f"{name}: is missing" for name in FILES]


def test_a_problem_is_one_short_line_whatever_it_is_about(copy):
    change(copy / "schedule.csv", lambda lines: lines.append(f'"a\nb\x1b[31m{"x" * 5_000}",,worker,w00,,1,,0,1\n'))
    (problem, *_), _ = run("verify", copy)[1:]
    assert problem.isprintable()
    assert len(problem) < 300
    assert one_line("a\n\x07\udcff" + "b" * 400) == "a\\n\\x07\\udcff" + "b" * 64 + "..."


ODD = (None, True, -1, 0, 1.5, "x", "", [], {}, 2**53, 2**63, 10**30, 1e308, -1e308, [None], {"a": 1}, "\0", [[1]])
PIECES = (b",", b'"', b"\n", b"-1", b"nan", b"1e400", b"9" * 30, b"\0", b"\xff", b"[" * 2_000)


def mutated(rng, name, data):
    """The file with a few bytes, or a value somewhere in it, changed."""
    if name == "schedule.csv" or rng.random() < 0.3:
        wrong = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(wrong) + 1)
            wrong[at : at + rng.choice([0, 1, rng.randint(1, 40)])] = rng.choice([b"", *PIECES])
        return bytes(wrong)
    lines = [json.loads(text) for text in ([data] if name.endswith(".json") else data.splitlines())]
    for _ in range(rng.randint(1, 2)):
        place, key = lines, rng.randrange(len(lines))
        while isinstance(place[key], dict | list) and place[key] and rng.random() < 0.75:
            place = place[key]
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        if rng.random() < 0.2 and place is not lines:
            del place[key]
        else:
            place[key] = deepcopy(rng.choice(ODD))
    return "\n".join(map(json.dumps, lines)).encode()


def test_no_folder_makes_verify_fail(copy):
    """400 of them; whoever wants more raises the number."""
    files = {name: (copy / name).read_bytes() for name in FILES}
    rng = random.Random(5)
    for _ in range(400):
        name = rng.choice(FILES)
        (copy / name).write_bytes(mutated(rng, name, files[name]))
        assert all(isinstance(problem, str) and problem for problem in problems_of(copy))
        (copy / name).write_bytes(files[name])


@pytest.mark.parametrize("scheduler", ["oasis", "fifo"])
def test_any_job_is_simulated_or_refused_with_its_line(inputs, tmp_path, scheduler):
    """150 changed inputs: exit 0 and a result that verifies, or exit 2, one line, and nothing left."""
    files = {name: (inputs / name).read_bytes() for name in ("cluster.json", "jobs.jsonl")}
    rng = random.Random(6)
    changed = tmp_path / "changed"
    changed.mkdir()
    for _ in range(150):
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
        r"simulate: job j\d+: would run until \d+ ms, beyond 2\^53; set horizon_slots, or reduce the work of jobs",
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


def test_the_inputs_are_never_the_output(inputs):
    before = {path.name: path.read_bytes() for path in inputs.iterdir()}
    assert simulated(inputs, inputs)[2] == [
        f"simulate: --out {inputs}: is the folder of the input cluster.json; choose another one"
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
        assert "this is the working directory; choose a new folder" in simulated(inputs, Path(place))[2][0]


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
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4_096, 4_096))  # noqa: E731
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


@pytest.mark.parametrize(("option", "value", "sentence"), [
    ("--servers", 10**9, "a workload has at most 20,000 servers, got 1,000,000,000"),
    ("--jobs", 10**9, "a workload has at most 1,000,000 jobs"),
    ("--horizon-slots", 2**53, "a workload has at most 9,007,199,254,740,992 slot_ms x horizon_slots"),
    ("--slot-ms", 2**53, "a workload has at most 31,536,000,000 slot_ms"),
    ("--servers", 1, "at least 0 jobs and 2 servers, got 3 and 1"), ("--profile", "x" * 400, "unknown profile 'xxx"),
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
