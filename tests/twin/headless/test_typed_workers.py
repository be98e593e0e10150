"""generate, simulate and verify for schedulers of typed workers, and what the log keeps of plans of workers."""

import json

import pytest
from django.core.management import call_command

from scheduling.kernel.registry import build
from scheduling.kernel.simulation import Simulation
from scheduling.model.bars import END, START
from scheduling.workloads import generate
from twin.eventlog import batch_codec
from twin.eventlog.fold import COMPLETED_AT, DIED, FINISH_AT, NEVER, RunState
from twin.files.outputs import event_line

SCHEDULERS = ("a_online", "a_online_edge", "srtf", "tiresias_l", "batch_sche")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("typed_workers")
    call_command("generate", profile="a-online", jobs=30, servers=20, seed=5, span_hours=300.0, out=out / "in")
    return out


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_what_is_generated_is_simulated_and_verified(folder, scheduler, capsys):
    out = folder / scheduler
    call_command(
        "simulate",
        cluster=folder / "in/cluster.json",
        jobs=folder / "in/jobs.jsonl",
        scheduler=scheduler,
        seed=1,
        out=out,
    )
    call_command("verify", str(out))
    assert "no problems found" in capsys.readouterr().out
    summary = json.loads((out / "summary.json").read_text())
    assert summary["metrics"]["completed"] == 30
    assert summary["metrics"]["lanes"]["mean_slowdown"] >= 1
    header, *rows = (line.split(",") for line in (out / "schedule.csv").read_text().splitlines())
    chunks = {row[header.index("chunk")] for row in rows if row[header.index("role")] == "worker"}
    assert ("" in chunks) == (not scheduler.startswith("a_online"))


def test_options_of_another_profile_are_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        call_command("generate", profile="oasis", jobs=3, seed=1, load=2.0, out=tmp_path / "out")
    assert "--load is an option of the profile a-online" in capsys.readouterr().err


def test_plans_of_workers_survive_the_log_and_say_what_runs_at_any_instant():
    """Encoded and decoded the events are the same; at each event, the standing bars say what the end says."""
    cluster, jobs = generate("a-online", num_jobs=25, num_servers=10, seed=2, span_hours=200)
    events = list(Simulation(cluster, jobs, build("a_online"), 1).events())
    back = batch_codec.decode(batch_codec.encode(events))
    assert [event_line(event) for event in back] == [event_line(event) for event in events]
    whole = RunState().feed(events).bars.rows
    final = whole[whole[:, DIED] == NEVER]
    state = RunState()
    for place, event in enumerate(events):
        state.feed([event])
        if place + 1 < len(events) and events[place + 1].at_ms == event.at_ms:
            continue  # the instant is not over
        rows = state.bars.rows
        now = rows[(rows[:, DIED] == NEVER) & (rows[:, START] <= event.at_ms) & (rows[:, END] > event.at_ms)]
        then = final[(final[:, START] <= event.at_ms) & (final[:, END] > event.at_ms)]
        shown = [
            {
                (job, role, server, worker_slot, chunk)
                for job, role, server, _, _, _, worker_slot, chunk, *_ in part.tolist()
            }
            for part in (now, then)
        ]
        assert shown[0] == shown[1]
    assert state.jobs.rows[:, FINISH_AT].tolist() == state.jobs.rows[:, COMPLETED_AT].tolist(), (
        "planned and real completions"
    )
