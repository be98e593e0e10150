"""The commands on Harmony's workload and schedulers: generate, simulate, verify."""

import csv
import io
import json

import pytest
from django.core.management import call_command

from tests.scheduling.colocation.grouped import SCHEDULERS
from tests.twin.builders import run


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups") / "inputs"
    arguments = (
        "--profile",
        "harmony",
        "--jobs",
        12,
        "--servers",
        14,
        "--seed",
        3,
        "--process",
        "poisson",
        "--mean-minutes",
        10,
        "--out",
        folder,
    )
    assert run("generate", *arguments)[0] == 0
    return folder


@pytest.mark.parametrize("name", SCHEDULERS)
def test_what_simulate_writes_is_verified(inputs, tmp_path, name):
    out = tmp_path / "out"
    given = (
        "--cluster",
        inputs / "cluster.json",
        "--jobs",
        inputs / "jobs.jsonl",
        "--scheduler",
        name,
        "--seed",
        1,
        "--out",
        out,
    )
    parameters = ("--param", "partitions=1") if name == "naive_colocation" else ()
    assert run("simulate", *given, *parameters)[0] == 0
    code, lines, _ = run("verify", out)
    assert (code, "no problems found" in " ".join(lines)) == (0, True)
    rows = list(csv.DictReader(io.StringIO((out / "groups.csv").read_text())))
    assert {job for row in rows for job in row["jobs"].split()} == {
        json.loads(line)["id"] for line in (inputs / "jobs.jsonl").open()
    }
    bars = list(csv.DictReader(io.StringIO((out / "schedule.csv").read_text())))
    assert all(bar["server"] == bar["lane"] == bar["chunk"] == "" and bar["group"] for bar in bars)
    (out / "groups.csv").unlink()
    assert run("verify", out)[0] == 1


def test_jobs_of_another_paper_are_written_with_what_harmony_made_of_them(tmp_path):
    """And from that file the run is the same."""
    first = tmp_path / "inputs"
    assert run("generate", "--profile", "oasis", "--jobs", 8, "--servers", 6, "--seed", 2, "--out", first)[0] == 0
    logs = []
    for step, folder in enumerate((first, tmp_path / "out0")):
        out = tmp_path / f"out{step}"
        given = (
            "--cluster",
            folder / "cluster.json",
            "--jobs",
            folder / "jobs.jsonl",
            "--scheduler",
            "harmony",
            "--seed",
            1,
            "--out",
            out,
        )
        assert run("simulate", *given)[0] == 0
        assert run("verify", out)[0] == 0
        logs.append((out / "events.jsonl").read_bytes())
        rows = [json.loads(line) for line in (out / "jobs.jsonl").open()]
        assert all(row["comp_machine_ms"] > 0 and row["provenance"]["comp_machine_ms"] == "derived" for row in rows)
    assert logs[0] == logs[1]


def test_options_are_those_of_the_profile(tmp_path):
    cases = [
        (("--profile", "oasis", "--subset", "comp60"), "--subset is an option of the profile harmony, not of oasis"),
        (
            ("--profile", "harmony", "--preset", "testbed"),
            "--preset is an option of the profile a-online, not of harmony",
        ),
        (("--profile", "harmony", "--process", "poisson"), "--mean-minutes is required"),
        (("--profile", "harmony", "--variant", "literal"), "has no literal variant"),
    ]
    for given, expected in cases:
        code, _, error = run("generate", *given, "--jobs", 4, "--seed", 1, "--out", tmp_path / "x")
        assert code == 2
        assert expected in " ".join(error)


def test_subsets_are_three_quarters_and_lean_one_way(tmp_path):
    shares = {}
    for subset in ("comp60", "comm60"):
        out = tmp_path / subset
        call_command("generate", profile="harmony", jobs=80, seed=1, subset=subset, out=out)
        jobs = [json.loads(line) for line in (out / "jobs.jsonl").open()]
        assert len(jobs) == 60
        shares[subset] = sum(job["comp_machine_ms"] for job in jobs) / sum(job["comm_ms"] for job in jobs)
    assert shares["comp60"] > 1.3 * shares["comm60"]


def test_the_bursty_and_the_traced_arrivals_keep_the_mean(tmp_path):
    trace = tmp_path / "trace"
    call_command("generate", profile="oasis", jobs=100, seed=1, out=trace)
    for given in ({"process": "bursty"}, {"trace": trace / "jobs.jsonl"}):
        out = tmp_path / next(iter(given))
        call_command("generate", profile="harmony", jobs=40, seed=2, mean_minutes=4.0, out=out, **given)
        times = [json.loads(line)["arrival_ms"] for line in (out / "jobs.jsonl").open()]
        assert times[0] == 0
        assert times == sorted(times)
        assert 0.8 * 160 * 60_000 <= times[-1] <= 160 * 60_000
