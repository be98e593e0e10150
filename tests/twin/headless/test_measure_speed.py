"""Measured speeds from the command line: a real training, its file, and a workload that uses it."""

import orjson
import pytest
from django.core.management import call_command

from scheduling.model.measured_speed import MeasuredSpeed, Setting, trained_at
from scheduling.model.values import ModelError
from twin.files.jobs_jsonl import load_jobs
from twin.files.speed_json import dump_speed, load_speed

SPEED = MeasuredSpeed(2.0, 0.05, 0.7, 4.0, 256, 4, -0.5, 0.01, 0.02)


def test_a_file_is_read_as_it_was_written(tmp_path):
    file = tmp_path / "speed.json"
    file.write_bytes(dump_speed(SPEED, [Setting(1, 2, 3, 4.5)]))
    assert load_speed(file) == SPEED
    assert orjson.loads(file.read_bytes())["settings"] == [{"workers": 1, "ps": 2, "batch": 3, "iteration_ms": 4.5}]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "speed"}, 'speed.json: must be an object with "kind": "measured-speed"'),
        ({"sample_ms": 0}, "speed.json: sample_ms must be a number above 0, got 0"),
        ({"fixed_ms": -1.0}, "speed.json: fixed_ms must be a number from 0 to 2^53, got -1.0"),
        ({"megabyte_ms": "fast"}, "speed.json: megabyte_ms must be a number, got 'fast'"),
        ({"gradient_mb": None}, "speed.json: gradient_mb must be a number, got None"),
        ({"batch": 1.5}, "speed.json: batch must be an integer from 1 to 2^53, got 1.5"),
    ],
)
def test_a_wrong_file_gets_one_clear_message(tmp_path, change, message):
    file = tmp_path / "speed.json"
    file.write_bytes(orjson.dumps(orjson.loads(dump_speed(SPEED, [])) | change))
    with pytest.raises(ModelError) as error:
        load_speed(file)
    assert str(error.value).startswith(message)


def test_a_workload_uses_the_speed_of_a_file(tmp_path):
    file, out = tmp_path / "speed.json", tmp_path / "out"
    file.write_bytes(dump_speed(SPEED, []))
    call_command(
        "generate", "--profile", "pd-ors", "--jobs", "3", "--servers", "4", "--seed", "1", "--speed", str(file),
        "--out", str(out),
    )  # fmt: skip
    with (out / "jobs.jsonl").open("rb") as lines:
        jobs = load_jobs(lines, "jobs.jsonl")
    assert {job.gradient_mb for job in jobs} == {4.0}
    assert {job.ps_update_ms for job in jobs} == {2 + 0.7 * 8}
    file.write_text("{")
    with pytest.raises(SystemExit) as stop:
        call_command(
            "generate", "--profile", "oasis", "--jobs", "1", "--seed", "1", "--speed", str(file), "--out", str(out)
        )
    assert stop.value.code == 2


def test_a_simulation_uses_the_speed_of_a_file(tmp_path):
    file, made, played = tmp_path / "speed.json", tmp_path / "made", tmp_path / "played"
    file.write_bytes(dump_speed(SPEED, []))
    call_command("generate", "--profile", "oasis", "--jobs", "5", "--servers", "4", "--seed", "1", "--out", str(made))
    given = [
        "--cluster", str(made / "cluster.json"), "--jobs", str(made / "jobs.jsonl"), "--scheduler", "fifo", "--seed",
        "1", "--out", str(played), "--speed", str(file),
    ]  # fmt: skip
    call_command("simulate", *given)
    with (made / "jobs.jsonl").open("rb") as before, (played / "jobs.jsonl").open("rb") as after:
        assert load_jobs(after, "jobs.jsonl") == [trained_at(job, SPEED) for job in load_jobs(before, "jobs.jsonl")]
    file.write_text("[]")
    with pytest.raises(SystemExit) as stop:
        call_command("simulate", *given)
    assert stop.value.code == 2


@pytest.mark.slow
def test_a_real_training_is_measured(tmp_path, capsys):
    """2 workers and 2 parameter servers at most, over loopback; the model learns."""
    file = tmp_path / "speed.json"
    call_command(
        "measure_speed", "--workers", "2", "--ps", "2", "--batch", "512", "--gradient-mb", "0.1", "--iterations", "8",
        "--out", str(file),
    )  # fmt: skip
    speed = load_speed(file)
    rows = orjson.loads(file.read_bytes())["settings"]
    assert [(row["workers"], row["ps"]) for row in rows] == [(1, 1)] * 3 + [(1, 2)] * 3 + [(2, 1)] * 3 + [(2, 2)] * 3
    assert all(row["iteration_ms"] > 0 for row in rows)
    assert speed.sample_ms > 0
    *lines, last = capsys.readouterr().out.splitlines()
    for line in lines:
        first, _, final = line.rpartition("loss ")[2].partition(" to ")
        assert float(final) < float(first)
    assert "held-out settings" in last
