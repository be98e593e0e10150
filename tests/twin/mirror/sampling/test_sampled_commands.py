"""Samples by the commands: follow writes samples.csv, connect tests and stores a sampler."""

from __future__ import annotations

import csv

import pytest

from tests.twin.builders import run as command
from tests.twin.mirror.builders import job, polled, running
from tests.twin.samplers.fake_prometheus import answer
from twin.connectors.facts_json import dumps
from twin.files.samples_csv import SamplesCsv
from twin.models import Connection


@pytest.fixture
def recording(tmp_path, monkeypatch):
    """Looks at the small cluster, one each tenth of a second; following it ends as soon as its time has passed."""
    monkeypatch.setattr("twin.connectors.replay.ALIVE_S", 0.1)
    polls = (polled(3_600 + second, running("1", 3_500), job("2")) for second in range(20))
    path = tmp_path / "cluster.jsonl"
    path.write_bytes(b"".join(dumps(each) + b"\n" for each in polls))
    return path


def follow(recording, out, *sampler):
    options = ("--param", f"path={recording}", "--param", "speed=10", "--for", "2s", "--out", str(out))
    return command("follow", "replay", *options, *sampler)


def test_follow_writes_the_samples_and_the_files_are_verified(recording, prometheus, tmp_path):
    out = tmp_path / "out"
    result = follow(recording, out, "--sampler", "prometheus", "--sampler-param", f"url={prometheus.url}")
    assert "1 sample of the use of nodes" in str(result)
    with (out / "samples.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert (row["server"], row["gpus_used"], row["cpus_used"], row["gpu_busy"]) == ("edge1", "3", "2", "0.3")
    assert command("verify", str(out))[0] == 0


def test_names_are_those_of_the_other_files_and_no_formulas(tmp_path):
    table = SamplesCsv(tmp_path / "samples.csv")
    table.write(
        {"use": [], "rows": [[1, 60_000, -1, 1_500, 64, 125], [0, 60_000, 2_000, -1, -1, -1]]}, ["edge1", "=1+1"]
    )
    table.write({"use": [], "rows": [[0, 120_000, 0, 0, 0, 0]]}, ["edge1", "=1+1"])
    assert (tmp_path / "samples.csv").read_text().splitlines() == [
        "server,at_ms,gpus_used,cpus_used,memory_used_mb,gpu_busy",
        "'=1+1,60000,,1.5,64,0.125",
        "edge1,60000,2,,,",
        "edge1,120000,0,0,0,0",
    ]


def test_follow_records_polls_that_replay_plays(recording, tmp_path):
    assert follow(recording, tmp_path / "out", "--record", str(tmp_path / "again.jsonl"))[0] == 0
    played = recording.read_bytes().splitlines()
    written = (tmp_path / "again.jsonl").read_bytes().splitlines()
    assert written[0] == played[0]
    assert len(set(written) & set(played)) > 3
    again = follow(recording, tmp_path / "out", "--record", str(tmp_path / "again.jsonl"))
    assert again == (2, [], [f"follow: {tmp_path / 'again.jsonl'}: File exists"]), "a recording is never overwritten"


def test_without_a_sampler_there_is_no_file(recording, tmp_path):
    follow(recording, tmp_path / "out")
    assert not (tmp_path / "out" / "samples.csv").exists()


def test_a_prometheus_that_fails_is_said_and_the_cluster_is_followed(recording, prometheus, tmp_path):
    prometheus.hostile = lambda handler: answer(handler, 200, b"<html>")
    result = follow(recording, tmp_path / "out", "--sampler", "prometheus", "--sampler-param", f"url={prometheus.url}")
    assert "0 samples of the use of nodes; Prometheus" in str(result)
    assert "is HTML" in str(result)
    assert not (tmp_path / "out" / "samples.csv").exists()


@pytest.mark.django_db
def test_connect_tests_stores_changes_and_takes_away_the_sampler(recording, prometheus):
    sampler = ("--sampler", "prometheus", "--sampler-param", f"url={prometheus.url}")
    base = ("connect", "replay", "--name", "lab", "--param", f"path={recording}")
    result = str(command(*base, *sampler))
    assert "use of GPUs busy: samples of 1 of 2 nodes" in result
    made = Connection.objects.get()
    assert (made.sampler, made.sampler_parameters["url"]) == ("prometheus", prometheus.url)
    command(*base, "--change", "--sampler-param", "interval_s=120")
    made.refresh_from_db()
    assert (made.sampler_parameters["interval_s"], made.sampler_parameters["url"]) == (120, prometheus.url)
    command(*base, "--change", "--interval-ms", "2000")
    made.refresh_from_db()
    assert made.sampler == "prometheus"
    command(*base, "--change", "--sampler", "none")
    made.refresh_from_db()
    assert (made.sampler, made.sampler_parameters) == ("", {})
