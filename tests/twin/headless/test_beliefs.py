"""`simulate --believe`: files of a run whose scheduler knows believed run times."""

import json

import pytest

from tests.twin.headless.builders import change, simulated
from twin.management.commands.verify import problems_of


@pytest.mark.parametrize("scheduler", ["fifo", "oasis", "easy", "srtf"])
@pytest.mark.parametrize("name", ["limit", "similar-median"])
def test_the_files_of_a_run_on_beliefs_are_verified(inputs, tmp_path, scheduler, name):
    out = tmp_path / "out"
    assert simulated(inputs, out, scheduler, "--believe", name)[0] == 0
    assert problems_of(out) == []
    summary = json.loads((out / "summary.json").read_bytes())
    events = [json.loads(line) for line in (out / "events.jsonl").read_text().splitlines()]
    assert summary["beliefs"] == events[0]["data"]["beliefs"] == name
    assert (out / "jobs.jsonl").read_bytes() == (inputs / "jobs.jsonl").read_bytes(), "the true jobs"
    change(out / "summary.json", lambda value: value.pop("beliefs"))
    assert problems_of(out) == [f"summary.json: beliefs is None, but the run of events.jsonl had {name!r}"]


def test_exact_beliefs_are_an_ordinary_run(inputs, tmp_path):
    assert (
        simulated(inputs, tmp_path / "a")[0] == simulated(inputs, tmp_path / "b", "fifo", "--believe", "exact")[0] == 0
    )
    assert (tmp_path / "a" / "events.jsonl").read_bytes() == (tmp_path / "b" / "events.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("scheduler", "name", "sentence"),
    [
        ("fifo", "last two", "unknown predictor 'last two'; did you mean 'last-two'? known: exact, last-two, limit, "),
        (
            "harmony",
            "limit",
            "scheduler harmony: cannot run on predicted run times, because the times of its groups depend on",
        ),
        (
            "a_online",
            "limit",
            "scheduler a_online: cannot run on predicted run times, because it places each chunk of a job separately",
        ),
    ],
)
def test_what_cannot_be_believed_is_refused_in_one_line(inputs, tmp_path, scheduler, name, sentence):
    code, _, wrong = simulated(inputs, tmp_path / "out", scheduler, "--believe", name)
    assert (code, len(wrong), (tmp_path / "out").exists()) == (2, 1, False)
    assert wrong[0].startswith(f"simulate: {sentence}")
