"""A run whose scheduler cannot be imported any more: it is read, drawn and exported; what simulates it is refused."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from scheduling.model.values import Cluster, Job, Server
from tests.dashboard.builders import downloaded, post
from tests.dashboard.builders_answers import OF_RUN, recorded
from tests.dashboard.described_answers import description
from tests.twin.builders import played_out
from twin.eventlog import state_cache
from twin.eventlog.batch_codec import decode, encode
from twin.models import EventBatch, Run, Scenario
from twin.scenarios import store

ROOT = Path(__file__).resolve().parents[3]
FILES = ROOT / "tests" / "fixtures" / "schedulers"
MODELS = {"next_free_slotted": "slotted", "next_free_worker": "typed_workers", "next_free_machine": "colocation"}
CLUSTER = Cluster("two", 1000, tuple(Server(f"s{i}", "edge", (1000, 1000, 16_000, 0, 2000)) for i in range(2)))
JOBS = [
    Job(name, at_ms, epochs=1, num_chunks=2, minibatches_per_chunk=2, minibatch_ms=500.0, gradient_mb=0.0,
        worker=(1000, 0, 0, 0, 1000), ps=(0, 1000, 0, 0, 1000))
    for name, at_ms in (("a", 0), ("b", 500), ("c", 600), ("d", 9000))
]  # fmt: skip
LOST = {  # what became of the file -> what is said of it
    "removed": "no file {name}.py is installed with the schedulers",
    "broken": "{folder}/{name}.py cannot be imported: ImportError: cannot import name 'NoSuchName'",
    "needs a package": "it needs the package nosuchpackage, which cannot be imported",
}
LINES = {"broken": "from scheduling.model.values import NoSuchName\n", "needs a package": "import nosuchpackage\n"}
REFUSED = {  # addresses below a run or a scenario, which need the scheduler itself or what this run does not have
    "/api/runs/{id}/jobs/{index}/counterfactuals/", "/api/runs/{id}/prices/{server}/",
    "/api/runs/{id}/levels/",  # of larger runs
    "/api/runs/{id}/groups/{group}/subtasks/",
}  # fmt: skip


@pytest.fixture(params=MODELS)
def name(request):
    return request.param


@pytest.fixture(params=["first", "later"])
def when(request):
    """Whether the scheduler is that of the scenario, or of an edit."""
    return request.param


@pytest.fixture
def lose(more_schedulers, name):
    """lose(how) the file of the scheduler, as another process finds it that begins afterwards."""
    folder, forget = more_schedulers
    shutil.copy(FILES / f"{name}.py", folder)

    def done(how="removed"):
        file = folder / f"{name}.py"
        if how == "removed":
            file.unlink()
        else:
            file.write_text(LINES[how])
        forget()
        state_cache.forget()
        store.forget()

    return done


@pytest.fixture
def runs(db, name, when, lose):
    """A run with the scheduler, and one of SRTF on the same trace."""
    spec, trace = store.store_generated("two", CLUSTER, JOBS, 1)
    first = name if when == "first" else "srtf"
    changed = {"verb": "change_scheduler", "scheduler": name, "at_ms": 700}
    edits = [{"verb": "delay_jobs", "jobs": "d", "by_ms": 100, "at_ms": 700} if when == "first" else changed]
    scenario = Scenario.objects.create(name="old", cluster=spec, trace=trace, scheduler=first, seed=1, edits=edits)
    other = Scenario.objects.create(name="other", cluster=spec, trace=trace, scheduler="srtf", seed=1)
    return [played_out(Run.objects.create(scenario=one, edits=one.edits)) for one in (scenario, other)]


def answered(client, run, path):
    answer = client.get(f"/api/runs/{run.pk}/{path}")
    assert answer.status_code == 200, answer.json()
    return downloaded(answer) if answer.streaming else answer.json() if "json" in answer["Content-Type"] else None


def shown(client, run):
    """Everything that is exported and compared, without times of the wall clock."""
    summary = answered(client, run, "summary.json")
    return {
        "schedule": answered(client, run, "schedule.csv"), "log": answered(client, run, "events.jsonl"),
        "perfetto": answered(client, run, "perfetto.json"), "jobs": answered(client, run, "jobs/"),
        "now": answered(client, run, "now/"), "situation": answered(client, run, "situation/"),
        "thumbnail": answered(client, run, "thumbnail/"), "limits": answered(client, run, "static/")["limits"],
        "summary": {key: summary[key] for key in ("scheduler", "parameters", "seed", "execution", "metrics")},
    }  # fmt: skip


def test_everything_that_is_read_stays_as_it_was(viewer, runs, lose, name, when):
    run, other = runs
    before = shown(viewer, run)
    compared = viewer.get("/api/compare/", {"runs": f"{run.pk},{other.pk}"}).json()
    lose()
    assert shown(viewer, run) == before
    static = answered(viewer, run, "static/")
    phases = [(phase["name"], phase["model"]) for phase in static["phases"]]
    assert phases == [*([("srtf", "typed_workers")] if when == "later" else []), (name, MODELS[name])]
    assert ("typed_workers" in static) == ("typed_workers" in dict(map(reversed, phases)))
    assert static["phases"][-1]["unavailable"] == (
        f"scheduler '{name}' is not available: no file {name}.py is installed with the schedulers"
    )
    again = viewer.get("/api/compare/", {"runs": f"{run.pk},{other.pk}"}).json()
    proved = "certificate_ratio"  # why there is none does change
    rows = [[row for row in found["metrics"] if row["key"] != proved] for found in (compared, again)]
    for cell in (cell for found in rows for row in found for cell in row["values"]):
        cell["why"] = re.sub("under .*, from", f"under {name}, from", cell.get("why") or "")  # its title is lost
    assert rows[1] == rows[0]
    if MODELS[name] == "colocation":
        assert answered(viewer, run, "groups.csv").startswith(b"group,start_ms")


def test_every_address_below_it_answers(operator, runs, lose):
    run, other = runs
    axes = [{"edit": 1, "field": "at_ms", "values": [700, 800]}]
    made = post(operator, "/api/sweeps/", {"scenario": run.scenario_id, "axes": axes, "seeds": [1, 2]})
    sweep = made.json()["id"]
    lose()
    ids = {"runs": run.pk, "scenarios": run.scenario_id, "traces": run.scenario.trace_id, "sweeps": sweep,
           "clusters": run.scenario.cluster_id}  # fmt: skip
    wrong, seen = {}, 0
    for path, methods in description()["paths"].items():
        kind = f"{path}//".split("/")[2]
        if "get" not in methods or kind not in (*ids, "compare", "search") or path in REFUSED:
            continue
        address = re.sub(r"\{\w+\}", "0", path.replace("{id}", str(ids.get(kind))))
        asked = {"compare": {"runs": f"{other.pk},{run.pk}"}, "search": {"q": "old"}}.get(kind, {})
        answer = operator.get(address, asked)
        seen += answer.status_code == 200
        if answer.status_code != 200 and "available" in answer.content.decode():
            wrong[path] = answer.json()
    assert wrong == {}
    assert seen > 30
    pages = ("/", "/scenarios/", f"/scenarios/{run.scenario_id}/", f"/sweeps/{sweep}/", f"/compare/?runs={run.pk}")
    assert [operator.get(page).status_code for page in pages] == [200] * len(pages)


@pytest.mark.parametrize("how", LOST)
def test_the_page_names_it_and_says_why(viewer, runs, lose, name, how, more_schedulers):
    assert 'id="missing-scheduler"' not in viewer.get(f"/runs/{runs[0].pk}/").content.decode()
    lose(how)
    page = viewer.get(f"/runs/{runs[0].pk}/").content.decode().replace("&#x27;", "'")
    assert f"Scheduler '{name}' is not available: {LOST[how].format(name=name, folder=more_schedulers[0])}" in page
    assert 'id="missing-scheduler"' not in viewer.get(f"/runs/{runs[1].pk}/").content.decode()


def state_the_model(run, model):
    """The log with another execution model in the event with which each of its phases begins."""
    for batch in EventBatch.objects.filter(run=run):
        events = decode(batch.payload)
        for event in events:
            if "execution" in event.data:
                event.data["execution"]["model"] = model
        EventBatch.objects.filter(pk=batch.pk).update(payload=encode(events))


def test_a_model_that_is_unknown_is_named_and_the_rest_is_shown(operator, runs, lose, name, when):
    run, other = runs
    state_the_model(run, "magic")
    lose()
    unknown = (
        f"no file {name}.py is installed with the schedulers. Its log states the unknown execution model 'magic' "
        "(known: slotted, typed_workers, colocation, observed); it is shown as slotted"
    )
    page = operator.get(f"/runs/{run.pk}/").content.decode().replace("&#x27;", "'")
    assert f"Scheduler '{name}' is not available: {unknown}. The run is shown as its" in " ".join(page.split())
    phases = answered(operator, run, "static/")["phases"]
    assert (phases[-1]["model"], phases[-1]["unavailable"]) == (
        "slotted", f"scheduler '{name}' is not available: {unknown}",
    )  # fmt: skip
    assert len(phases) == (1 if when == "first" else 2)  # a phase whose scheduler is known keeps its own model
    assert "unavailable" not in phases[0] or when == "first"
    assert shown(operator, run)["jobs"]["count"] == len(JOBS)
    compared = operator.get("/api/compare/", {"runs": f"{run.pk},{other.pk}"})
    assert compared.status_code == 200, compared.json()


def test_only_what_simulates_it_is_refused_with_that_sentence(operator, runs, lose, name, when):
    run = runs[0]
    lose()
    Run.objects.filter(pk=run.pk).update(status=Run.PAUSED)  # an ended run is not asked
    why = f"scheduler '{name}' is not available: no file {name}.py is installed with the schedulers"
    answers = [
        post(operator, "/api/runs/", {"scenario": run.scenario_id}),
        post(operator, f"/api/runs/{run.pk}/ask/", {"like": "a"}),
        operator.get(f"/api/runs/{run.pk}/jobs/0/counterfactuals/"),
    ]
    if when == "later":
        answers[2:] = []  # job 0 was decided under SRTF
    for answer in answers:
        assert answer.status_code == 400
        assert why in answer.json()["detail"] or "unknown scheduler" in answer.json()["detail"]
    certificate = post(operator, f"/api/runs/{run.pk}/certificate/", {})
    assert certificate.status_code == 400, certificate.content
    assert why[1:] in certificate.json()["detail"]
    made = post(operator, f"/api/runs/{run.pk}/forks/", {"at_ms": 9000, "start": True})
    assert made.status_code == 400, made.json()
    assert why in made.json()["detail"] or "unknown scheduler" in made.json()["detail"]


@pytest.mark.parametrize("how", LOST)
def test_the_others_race_without_it(operator, runs, lose, name, when, how, more_schedulers):
    """By the model by which the jobs of its last run trained."""
    where = f"/api/scenarios/{runs[0].scenario_id}/race/"
    before = operator.get(where).json()
    lose(how)
    after = operator.get(where).json()
    others = [row for row in before["able"] if row["scheduler"] != name]
    assert after["able"] == others
    left = {row["scheduler"]: row["reason"] for row in after["left_out"]}
    if when == "first" or how != "removed":
        assert LOST[how].format(name=name, folder=more_schedulers[0]) in left[name]
    chosen = post(operator, where, {"schedulers": [name, others[0]["scheduler"]]})
    assert chosen.status_code == 400
    assert name in chosen.json()["detail"]


@pytest.mark.parametrize("how", LOST)
def test_only_schedulers_that_can_be_used_are_known(operator, runs, lose, name, how):
    lose(how)
    lists = [post(operator, "/api/scenarios/", {
        "name": "new", "cluster": runs[1].scenario.cluster_id, "trace": runs[1].scenario.trace_id, "scheduler": "best",
    }).json()["detail"], post(operator, "/api/runs/", {"scenario": runs[0].scenario_id}).json()["detail"]]  # fmt: skip
    for told in lists:
        known = told.partition("; known: ")[2]
        assert name not in known.split(", ")
    assert "fifo" in lists[0].partition("; known: ")[2].split(", ")


def test_it_is_drawn(viewer, runs, lose, tmp_path):
    run = runs[0]
    lose()
    given = tmp_path / "answers.json"
    answers = {path: recorded(viewer, path) for path in (f"/api/runs/{run.pk}/{path}" for path in OF_RUN)}
    given.write_text(json.dumps({"run": run.pk, "answers": answers}))
    command = ["node", ROOT / "tests/js/draw-run.js", given]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    drawn = json.loads(done.stdout)
    assert (drawn["jobs"], drawn["failed"]) == ([0, 1, 2, 3], [])
