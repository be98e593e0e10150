"""A scheduler of each execution model in one file of its own: from list to export without any other edit."""

import csv
import gzip
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from scheduling.kernel import registry
from scheduling.model.bars import SERVER
from scheduling.model.values import Cluster, Job, Server
from scheduling.reporting.reasons import readable, sentence
from tests.dashboard.builders import downloaded
from tests.dashboard.builders_answers import OF_RUN, recorded
from tests.twin.builders import played_out
from tests.twin.builders import run as command
from twin.files.cluster_json import dump_cluster
from twin.files.jobs_jsonl import job_lines
from twin.infra.columns import unpack
from twin.models import Run, Scenario
from twin.scenarios.store import store_generated

ROOT = Path(__file__).resolve().parents[3]
FILES = ROOT / "tests" / "fixtures" / "schedulers"
MODELS = {"next_free_slotted": "slotted", "next_free_worker": "typed_workers", "next_free_machine": "colocation"}
GUILTY = {  # what the verifier says when two jobs stand where one may
    "next_free_slotted": "server s0 holds 2 of 1 gpu from 1000 ms",
    "next_free_worker": "exclusive worker: job b: takes worker 0 of server s0 at 500 ms, which job a holds",
    "next_free_machine": "groups 0 and 1 both hold server s0 from 500 ms on",
}
STARTED = {  # what each says of job a; the first two declare a reason of their own, which has their name in front
    "next_free_slotted": "Started on server s0; 1 more are free.",
    "next_free_worker": "Started on server s0; 1 more workers are free.",
    "next_free_machine": "Runs in group 0 on 1 machine, alone. Time per iteration: 1 s.",
}
CLUSTER = Cluster("two", 1000, tuple(Server(f"s{i}", "edge", (1000, 1000, 16_000, 0, 2000)) for i in range(2)))
JOBS = [
    Job(name, at_ms, epochs=1, num_chunks=2, minibatches_per_chunk=2, minibatch_ms=500.0, gradient_mb=0.0,
        worker=(1000, 0, 0, 0, 1000), ps=(0, 1000, 0, 0, 1000))
    for name, at_ms in (("a", 0), ("b", 500), ("c", 600), ("d", 9000))
]  # fmt: skip


@pytest.fixture
def folder(more_schedulers):
    """An empty folder that the registry looks into as well."""
    return more_schedulers[0]


@pytest.fixture(params=MODELS)
def name(request, folder):
    """A scheduler that stands there."""
    shutil.copy(FILES / f"{request.param}.py", folder)
    return request.param


@pytest.fixture
def output(tmp_path, name):
    """What `simulate` writes of it."""
    inputs, out = tmp_path / "inputs", tmp_path / "out"
    inputs.mkdir()
    (inputs / "cluster.json").write_bytes(dump_cluster(CLUSTER))
    (inputs / "jobs.jsonl").write_bytes(b"".join(job_lines(JOBS)))
    files = ("--cluster", inputs / "cluster.json", "--jobs", inputs / "jobs.jsonl")
    code, lines, errors = command("simulate", *files, "--scheduler", name, "--seed", 1, "--out", out)
    assert (code, errors) == (0, [])
    assert ": 4 jobs, 4 completed, 0 rejected" in lines[0]
    return out


@pytest.fixture
def played(db, name):
    """A run of it on the dashboard."""
    spec, trace = store_generated("two", CLUSTER, JOBS, 1)
    scenario = Scenario.objects.create(name="new", cluster=spec, trace=trace, scheduler=name, seed=1)
    return played_out(Run.objects.create(scenario=scenario))


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def test_it_is_listed(name, viewer):
    assert registry.schedulers()[name].model.name == MODELS[name]
    listed = {row["name"]: row for row in viewer.get("/api/schedulers/").json()}
    assert (listed[name]["title"], listed[name]["unavailable"]) == (registry.schedulers()[name].title, None)
    assert {"fifo", "srtf", "harmony"} < listed.keys()


def test_it_is_run_and_verified(output):
    assert command("verify", output) == (0, [f"{output}: no problems found"], [])


def test_each_decision_has_a_sentence(output, name):
    decisions = [json.loads(line) for line in (output / "decisions.jsonl").open()]
    sentences = [sentence(row["reason"]["code"], row["reason"]["values"]) for row in decisions]
    assert len(sentences) >= len(JOBS)
    assert STARTED[name] in [text for text, row in zip(sentences, decisions, strict=True) if row["job"] == "a"]
    own = {row["reason"]["code"] for row in decisions if row["reason"]["code"].startswith(f"{name}.")}
    assert own == set(registry.schedulers()[name].reasons)


def test_a_reason_of_its_own_without_a_sentence_is_reported(output, name):
    for file in ("events.jsonl", "decisions.jsonl"):
        text = (output / file).read_text()
        (output / file).write_text(text.replace(f"{name}.placed", f"{name}.other"))
    code, reported, _ = command("verify", output)
    expected = f"reason '{name}.other': ValueError: no sentence for reason '{name}.other'; known: "
    assert any(expected in line and f"{name}.placed" in line for line in reported) == bool(
        registry.schedulers()[name].reasons
    ), reported
    assert code == int(bool(registry.schedulers()[name].reasons))


def test_a_run_whose_scheduler_is_not_installed_any_more_shows_codes_and_numbers(folder):
    assert (
        readable("next_free_slotted.placed", {"server": "s0", "free": 1})
        == "Reason next_free_slotted.placed: server s0, free 1."
    )
    assert readable("no_machines", {}) == "Rejected: no server of the cluster accepts workers."


def test_a_reason_that_could_be_of_another_scheduler_disables_the_file(folder):
    text = (FILES / "next_free_slotted.py").read_text().replace("next_free_slotted.placed", "placed")
    (folder / "next_free_slotted.py").write_text(text)
    assert registry.unavailable() == {
        "next_free_slotted": "its own reason 'placed' must begin with its name: next_free_slotted.placed"
    }


def test_it_is_exported(output, name):
    bars = rows(output / "schedule.csv")
    assert {bar["job"] for bar in bars} == {"a", "b", "c", "d"}
    assert (output / "groups.csv").exists() == (MODELS[name] == "colocation")
    if MODELS[name] == "colocation":
        groups = rows(output / "groups.csv")
        assert {(row["jobs"], row["servers"]) for row in groups} >= {("a", "s0"), ("b", "s1")}
        assert {row["group"] for row in groups} == {bar["group"] for bar in bars}


def test_it_is_found_guilty_when_two_jobs_stand_where_one_may(output, name):
    """The second server's jobs are moved to the first in every file, as a scheduler would that overbooks."""
    lines = [json.loads(line) for line in (output / "events.jsonl").open()]
    for event in lines:
        for bar in event["data"].get("bars", ()):
            bar[SERVER] = min(bar[SERVER], 0)
        if event["kind"] == "grouped":
            event["data"]["servers"] = [0] * len(event["data"]["servers"])
    (output / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in lines))
    for file in ("schedule.csv", "groups.csv"):
        if (output / file).exists():
            (output / file).write_text((output / file).read_text().replace(",s1,", ",s0,"))
    code, reported, _ = command("verify", output)
    assert code == 1
    assert any(line.startswith(GUILTY[name]) for line in reported), reported


def test_it_is_drawn_and_downloaded(output, played, name, viewer):
    static = viewer.get(f"/api/runs/{played.pk}/static/").json()
    [phase] = static["phases"]
    assert (phase["name"], phase["model"]) == (name, MODELS[name])
    assert phase["model"] == static["scheduler"]["model"] == MODELS[name]
    assert ("typed_workers" in static) == (MODELS[name] == "typed_workers")
    answer = viewer.get(f"/api/runs/{played.pk}/snapshot/", headers={"accept-encoding": "gzip"})
    meta, columns = unpack(gzip.decompress(answer.content))
    drawn = meta["groups"] if MODELS[name] == "colocation" else columns["bars_server"].tolist()
    assert drawn
    assert {"bars_job", "bars_start_ms", "bars_end_ms", "jobs_start_ms"} <= columns.keys()
    assert set(columns["bars_job"].tolist()) == {0, 1, 2, 3}
    rows = viewer.get(f"/api/runs/{played.pk}/events/table/", {"kind": "decided"}).json()["rows"]
    assert len(rows) >= len(JOBS)
    kind = "" if STARTED[name].startswith("Started") else "Started. "  # the sentence says it
    assert f"{kind}{STARTED[name]}" in [row["text"] for row in rows]
    drawer = viewer.get(f"/api/runs/{played.pk}/jobs/0/").json()
    assert STARTED[name] in [row["sentence"] for row in drawer["decisions"]]
    page = viewer.get(f"/runs/{played.pk}/").content.decode()
    answer = viewer.get(f"/api/runs/{played.pk}/groups.csv")
    assert (answer.status_code, f'href="/api/runs/{played.pk}/groups.csv">Groups CSV</a>' in page) == (
        (200, True) if MODELS[name] == "colocation" else (404, False)
    )
    if answer.status_code == 404:
        assert answer.json()["detail"] == (
            f"run {played.pk} has no groups.csv: only runs whose scheduler co-locates jobs in groups have it"
        )
    else:
        assert downloaded(answer) == (output / "groups.csv").read_bytes()
    schedule = downloaded(viewer.get(f"/api/runs/{played.pk}/schedule.csv")).decode().splitlines()
    assert {line.split(",")[0] for line in schedule[1:]} == {"a", "b", "c", "d"}


def test_the_page_draws_every_job(played, viewer, tmp_path):
    """In the test's own page (tests/js/dom.js), on what the API answers."""
    paths = [f"/api/runs/{played.pk}/{path}" for path in OF_RUN]
    answers = {path: recorded(viewer, path) for path in paths}
    given = tmp_path / "answers.json"
    given.write_text(json.dumps({"run": played.pk, "answers": answers}))
    done = subprocess.run(
        ["node", ROOT / "tests/js/draw-run.js", given], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["jobs"], shown["failed"]) == ([0, 1, 2, 3], [])
    assert shown["rows"] > 0


@pytest.mark.parametrize(("text", "reason"), [
    ("1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero"),
    ("raise SystemExit('no licence')\n", "cannot be imported: SystemExit: no licence"),
    ("def broken(:\n", "cannot be imported: SyntaxError: invalid syntax"),
    ("from scheduling.model.values import NoSuchName\n",
     "cannot be imported: ImportError: cannot import name 'NoSuchName'"),
    ("x = 1\n", "must define one scheduler, named 'next_free_broken'; it has none"),
])  # fmt: skip
def test_a_file_that_cannot_be_used_says_why_and_the_others_work(folder, viewer, text, reason):
    (folder / "next_free_broken.py").write_text(text)
    listed = {row["name"]: row for row in viewer.get("/api/schedulers/").json()}
    assert listed["next_free_broken"]["unavailable"].startswith(f"{folder}/next_free_broken.py {reason}")
    assert listed["fifo"]["unavailable"] is None
    assert registry.build("fifo").name == "fifo"
    with pytest.raises(registry.Unavailable, match=r"scheduler 'next_free_broken' is not available: /.*broken.py"):
        registry.build("next_free_broken")


def test_two_files_with_one_name_are_both_named_and_neither_is_used(folder, viewer):
    """One of them would hide the other."""
    (folder / "fifo.py").write_text((FILES / "next_free_slotted.py").read_text().replace("next_free_slotted", "fifo"))
    listed = {row["name"]: row for row in viewer.get("/api/schedulers/").json()}
    assert listed["fifo"]["unavailable"] == (
        f"this name is defined more than once: scheduling/algorithms/fifo.py and {folder}/fifo.py; rename one"
    )
    assert listed["srtf"]["unavailable"] is None
    assert [row["name"] for row in viewer.get("/api/schedulers/").json()].count("fifo") == 1


def test_a_file_and_a_folder_of_one_name_are_both_named(folder):
    """Python would import the folder and say nothing of the file."""
    (folder / "next_free_both").mkdir()
    text = (FILES / "next_free_slotted.py").read_text().replace("next_free_slotted", "next_free_both")
    for place in ("next_free_both.py", "next_free_both/__init__.py"):
        (folder / place).write_text(text)
    both = f"{folder}/next_free_both/__init__.py and {folder}/next_free_both.py"
    assert registry.unavailable() == {"next_free_both": f"this name is defined more than once: {both}; rename one"}


def test_a_file_that_claims_the_name_of_another_is_not_used(folder):
    text = (FILES / "next_free_slotted.py").read_text().replace('name = "next_free_slotted"', 'name = "fifo"')
    (folder / "next_free_other.py").write_text(text)
    assert registry.unavailable()["next_free_other"] == (
        f"{folder}/next_free_other.py must define one scheduler, named 'next_free_other'; it has fifo"
    )
    assert registry.schedulers()["fifo"].__module__ == "scheduling.algorithms.fifo"
