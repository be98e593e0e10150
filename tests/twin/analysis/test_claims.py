"""What is claimed about which scheduler, from the files of `simulate` and from the log of a run alike."""

import json

import pytest

from scheduling.kernel.registry import build
from scheduling.workloads import generate
from tests.twin.builders import run as command
from tests.twin.runtime.queues import work
from twin.analysis import certificate_task
from twin.models import Run, Scenario
from twin.runs import runner
from twin.scenarios.store import store_generated

CASES = {"oasis": ("oasis", "utility"), "fifo": ("oasis", "utility"), "a_online": ("a-online", "completion"),
         "srtf": ("a-online", "completion"), "harmony": ("harmony", "makespan"),
         "isolated": ("harmony", "makespan")}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_run_and_the_files_claim_the_same(tmp_path, make_run, name):
    profile, about = CASES[name]
    cluster, jobs = generate(profile, num_jobs=8, num_servers=8, seed=2)
    assert build(name).model.claim(build(name), cluster) == about
    spec, trace = store_generated(name, cluster, jobs, 2)
    run = Run.objects.create(
        scenario=Scenario.objects.create(name=name, cluster=spec, trace=trace, scheduler=name, seed=2)
    )
    runner.enqueue(run.pk)
    work()
    certificate_task.run(run.pk)
    run.refresh_from_db()
    assert (run.status, run.certificate["about"]) == (Run.FINISHED, about)
    low, high = sorted((run.certificate["achieved"], run.certificate["bound"]))
    assert (run.certificate["achieved"] == low) is (about == "utility")
    assert run.certificate["ratio"] == pytest.approx(low / high, abs=1.1e-4)
    assert (
        command("generate", "--profile", profile, "--jobs", 8, "--servers", 8, "--seed", 2, "--out", tmp_path / "in")[0]
        == 0
    )
    given = ("--cluster", tmp_path / "in" / "cluster.json", "--jobs", tmp_path / "in" / "jobs.jsonl")
    assert command("simulate", *given, "--scheduler", name, "--seed", 2, "--out", tmp_path / "out")[0] == 0
    summary = json.loads((tmp_path / "out" / "summary.json").read_bytes())["certificate"]
    assert ("edge_only" in summary) == (name == "srtf")
    edge = (run.certificate.pop("edge_only", {}), summary.pop("edge_only", {}))
    for stated, written in ((run.certificate, summary), edge):
        assert stated.get("kind") == written.pop("kind", None)
        assert {key: stated[key] for key in written} == pytest.approx(written, rel=1e-6)
    assert command("verify", tmp_path / "out")[0] == 0


def test_nothing_is_claimed_of_chunks_that_run_faster_than_they_can():
    cluster, _ = generate("a-online", num_jobs=1, num_servers=4, seed=1)
    faster = build("a_online", {"speed_augmentation": 0.5})
    assert faster.model.claim(faster, cluster) is None
