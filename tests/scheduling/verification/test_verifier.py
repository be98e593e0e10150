"""The verifier accepts what the schedulers do, and nothing that was tampered with."""

import copy
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduling.model.values import Utility
from scheduling.reporting.reasons import SENTENCES
from scheduling.verification.replay import unclear
from scheduling.verification.schema import DATA
from scheduling.verification.verify import verify
from tests.cases import cases
from tests.scheduling import builders_slotted
from tests.scheduling.builders import output, output_of


@pytest.fixture(scope="module")
def original():
    return output("oasis")


@pytest.fixture
def rows(original):
    return copy.deepcopy(original)


def worker_row(rows):
    return next(row for row in rows["schedule"] if row["role"] == "worker")


@pytest.mark.parametrize(("scheduler", "parameters"), [
    ("oasis", {}), ("oasis", {"price_mode": "literal"}), ("fifo", {}), ("fifo", {"backfill": True}),
])  # fmt: skip
@pytest.mark.parametrize("seed", [3, 4])
def test_it_accepts_what_schedulers_do(scheduler, parameters, seed):
    rows = output(scheduler, seed=seed, **parameters)
    assert rows["schedule"]
    assert verify(**rows) == []


def test_it_catches_a_dropped_row(rows):
    row = worker_row(rows)
    rows["schedule"].remove(row)
    problems = verify(**rows)
    assert any(
        p.startswith(f"schedule.csv: job {row['job']}: worker on {row['server']}: from {row['start_ms']} ms")
        for p in problems
    )
    assert any(
        p.startswith(f"job {row['job']}: its workers finish its work ") or "without workers" in p for p in problems
    )


def test_it_catches_forty_times_the_workers(rows):
    row = worker_row(rows)
    row["count"] = str(int(row["count"]) * 40)
    problems = verify(**rows)
    assert any(p.startswith(f"server {row['server']} holds") for p in problems)
    assert any("Gbps per worker" in p for p in problems)


def test_it_catches_missing_parameter_servers(rows):
    job = worker_row(rows)["job"]
    rows["schedule"] = [row for row in rows["schedule"] if row["job"] != job or row["role"] != "ps"]
    assert any(p.startswith(f"job {job}:") and "workers without parameter servers" in p for p in verify(**rows))


def test_it_catches_a_start_before_the_arrival(rows):
    row = rows["schedule"][-1]
    row["start_ms"] = "0"
    assert any(p.startswith(f"job {row['job']}:") and "starts before the arrival" in p for p in verify(**rows))


@pytest.mark.parametrize(("field", "value", "message"), [
    ("count", "1.5", "count must be an integer from 0"),
    ("count", "0", "count must be >= 1, got 0"),
    ("count", "-2", "count must be an integer from 0"),
    ("count", "nan", "count must be an integer from 0"),
    ("count", "9" * 30, "count must be an integer from 0"),
    ("start_ms", "", "start_ms must be an integer"),
    ("end_ms", "0", "must end after its start"),
    ("server", "nowhere", "unknown server 'nowhere'"),
    ("server", "cloud", "the cluster has no unlimited cloud"),
    ("server", "p00", "server p00 does not accept the role worker"),
    ("role", "boss", "role must be worker, ps or transfer, got 'boss'"),
    ("job", "j9999", "unknown job 'j9999'"),
    ("lane", "x", "lane must be empty or an integer >= 0, got 'x'"),
])  # fmt: skip
def test_it_names_what_is_wrong_with_a_row(rows, field, value, message):
    worker_row(rows)[field] = value
    assert any(message in problem for problem in verify(**rows))


def test_it_catches_a_run_of_a_job_that_says_too_little(rows):
    job = next(job for job in rows["jobs"] if job["id"] == worker_row(rows)["job"])
    job["epochs"] = None
    assert any(p == f"job {job['id']} runs without epochs, so its work is unknown" for p in verify(**rows))


def test_it_catches_half_slots_and_the_horizon(rows):
    row = worker_row(rows)
    row["end_ms"] = str(int(row["end_ms"]) - 1)
    assert any("does not cover whole slots" in p for p in verify(**rows))
    row["end_ms"] = str(61 * rows["cluster"]["slot_ms"])
    assert any("ends after the horizon of 60 slots" in p for p in verify(**rows))


def test_it_catches_too_many_workers_at_a_time(rows):
    job = next(job for job in rows["jobs"] if job["id"] == worker_row(rows)["job"])
    job["num_chunks"], job["minibatches_per_chunk"] = 1, job["minibatches_per_chunk"] * job["num_chunks"]
    assert any("at most 1 workers at a time" in p for p in verify(**rows))


def test_it_catches_a_wrong_utility(rows):
    rows["summary"]["metrics"]["total_utility"] += 0.01
    assert [p.split(" is ")[0] for p in verify(**rows)] == ["summary.json: total_utility"]


def test_it_catches_a_wrong_explanation(rows):
    decision = next(d for d in rows["decisions"] if d["kind"] == "admitted")
    decision["reason"]["values"]["utility"] += 1
    decision["reason"]["values"]["finish_slot"] += 1
    problems = "\n".join(verify(**rows))
    assert "states a utility o" in problems
    assert "is not utility" in problems
    assert "states completion in slot" in problems


@pytest.mark.parametrize(
    "name", ["admitted", "rejected", "completed", "mean_jct_ms", "p95_jct_ms", "makespan_ms", "suspensions"]
)
def test_it_catches_a_wrong_figure(rows, name):
    rows["summary"]["metrics"][name] += 1
    assert [p.split(" is ")[0] for p in verify(**rows)] == [f"summary.json: {name}"]


def test_it_catches_decisions_that_do_not_fit(rows):
    job = worker_row(rows)["job"]
    decision = next(d for d in rows["decisions"] if d["job"] == job)
    late = decision | {"at_ms": decision["at_ms"] + 100 * rows["cluster"]["slot_ms"]}
    without = [d for d in rows["decisions"] if d is not decision]
    assert any("before its first decision" in p for p in verify(**rows | {"decisions": [late, *without]}))
    assert any(p == f"job {job} runs without a decision" for p in verify(**rows | {"decisions": without}))
    rejected = decision | {"kind": "rejected"}
    assert any(
        p == f"job {job} runs although it was rejected" for p in verify(**rows | {"decisions": [rejected, *without]})
    )
    early = decision | {"at_ms": 0}
    assert any("had not arrived at 0 ms" in p for p in verify(**rows | {"decisions": [early, *without]}))


@pytest.mark.parametrize("seed", range(60))
def test_no_change_of_a_single_row_goes_unnoticed(rows, seed):
    rng = random.Random(seed)
    schedule, slot_ms = rows["schedule"], rows["cluster"]["slot_ms"]
    row = rng.choice(schedule)
    move = slot_ms * rng.randint(1, 50)
    others = [s["name"] for s in rows["cluster"]["servers"] if row["role"] not in s["roles"]]
    change = rng.choice(["drop", "repeat", "fewer", "earlier", "longer", "later", "role", "job", "server"])
    if change == "drop":
        schedule.remove(row)
    elif change == "repeat":
        schedule.append(row)
    else:
        row |= {
            "fewer": {"count": str(int(row["count"]) - 1)},
            "earlier": {"start_ms": str(int(row["start_ms"]) - move)},
            "longer": {"end_ms": str(int(row["end_ms"]) + move)},
            "later": {"start_ms": str(int(row["start_ms"]) + move), "end_ms": str(int(row["end_ms"]) + move)},
            "role": {"role": "ps" if row["role"] == "worker" else "worker"},
            "job": {"job": rng.choice([job["id"] for job in rows["jobs"] if job["id"] != row["job"]])},
            "server": {"server": rng.choice(others)},
        }[change]
    assert verify(**rows), (change, row)


def line_of(rows, kind):
    return next(event["seq"] for event in rows["events"] if event["kind"] == kind)


@pytest.mark.parametrize(("kind", "change", "sentence"), [
    ("run_started", {"seed": 99}, "summary.json: seed is 3, but the run of events.jsonl had 99"),
    ("run_started", {"scheduler": "fifo"},
     "summary.json: scheduler is 'oasis', but the run of events.jsonl had 'fifo'"),
    ("run_started", {"parameters": {}}, "summary.json: parameters is {'price_mode'"),
    ("run_started", {"jobs": 41}, "line 1: jobs is 41, but the inputs have 40"),
    ("job_arrived", {"job": 7}, "job 7 arrives, but the next one of jobs.jsonl is 0 of 40"),
    ("decided", {"job": 39}, "job 39 has not arrived"),
    ("decided", {"code": "because"}, "reason 'because': ValueError: no sentence for reason 'because'"),
    ("decided", {"values": {}}, "KeyError"),
    ("decided", {"kind": "unfinished"}, "follows events that end the run with unfinished jobs"),
    ("plan_changed", {"jobs": [[0, 0, -1]]}, "which was not planned"),
    ("plan_changed", {"jobs": [[0, 1, 0]]}, "not when its last worker stops"),
    ("plan_changed", {"keys": [[0, 0, 0]]}, "keys of scope job must be jobs"),
    ("plan_changed", {"jobs": []}, "must have the start and end of each of its jobs"),
    ("plan_changed", {"bars": []}, "from 0 ms on 0 in events.jsonl"),
    ("job_completed", {"utility": 1e6}, "completes with a utility of 1000000.0, recomputed"),
    ("job_completed", {"job": 39}, "job 39 has not arrived"),
])  # fmt: skip
def test_the_log_is_held_against_the_other_files(rows, kind, change, sentence):
    event = rows["events"][line_of(rows, kind) - 1]
    event["data"] |= change
    if kind == "plan_changed" and change.get("jobs"):
        event["data"]["jobs"][0][0] = event["data"]["keys"][0]
    problems = "\n".join(verify(**rows))
    if sentence.startswith("from 0 ms"):
        bar = next(row for row in rows["schedule"] if row["job"] == rows["jobs"][event["data"]["keys"][0]]["id"])
        sentence = f"from {bar['start_ms']} ms on 0 in events.jsonl, but {bar['count']} here"
    assert sentence in problems


def test_a_log_that_is_cut_or_torn_is_named(rows):
    events = rows["events"]
    half = events[: len(events) // 2]
    assert verify(**rows | {"events": half}) == [
        "events.jsonl: the last event must be run_finished: the log is incomplete"
    ]
    assert len(verify(**rows | {"events": []})) == 2
    assert (
        verify(**rows | {"events": events[:4] + events[5:]})[0]
        == "events.jsonl: line 5: must be the event with seq 5, not 6"
    )
    late = [*events[:4], events[4] | {"at_ms": 10**12}, *events[5:]]
    assert verify(**rows | {"events": late})[0].startswith(
        "events.jsonl: line 6: must be at a time from 1000000000000 ms, that of"
    )
    for change, sentence in (
        ({"kind": "exploded"}, "must be of a kind among run_started, job_arrived"),
        ({"data": {"job": True}}, "whose job is an integer from 0 to"),
        ({"more": 1}, "with seq, at_ms, kind, data and nothing else"), ({"at_ms": 1.0}, "must be at a time"),
    ):  # fmt: skip
        place = line_of(rows, "job_arrived") - 1
        found = verify(**rows | {"events": [*events[:place], events[place] | change, *events[place + 1 :]]})
        assert found[0].startswith(f"events.jsonl: line {place + 1}: must be ")
        assert sentence in found[0]


@pytest.mark.parametrize("kind", ["planned", "lanes_planned"])
def test_plans_of_older_versions_are_refused_with_what_to_do(rows, kind):
    place = line_of(rows, "plan_changed") - 1
    events = [*rows["events"][:place], rows["events"][place] | {"kind": kind}, *rows["events"][place + 1 :]]
    assert verify(**rows | {"events": events})[0] == (
        f"events.jsonl: line {place + 1}: must be of this version: {kind} is from an older version; "
        "verify the run with that version, or simulate it again"
    )


def test_prices_are_complete_and_in_order(rows):
    event = rows["events"][line_of(rows, "priced") - 1]
    assert event["data"]["slots"] == "all"
    event["data"]["low"][0] = 1e9
    assert "each low <= mean <= high" in verify(**rows)[0]
    del event["data"]["low"][0]
    assert "prices for every slot, site and resource" in verify(**rows)[0]


@pytest.mark.parametrize(("certificate", "sentence"), [
    ({"kind": "x", "achieved": 1, "bound": 0, "ratio": 5},
     "certificate is null or an object whose kind is one of trivial"),
    ({"kind": "trivial", "achieved": 1, "bound": 2, "ratio": 0.5},
     "the certificate states a utility of 1, but the run has"),
    ({"kind": "trivial", "achieved": None, "bound": 2, "ratio": 0.5}, "whose achieved is a number, not None"),
])  # fmt: skip
def test_a_certificate_is_about_its_run(rows, certificate, sentence):
    rows["summary"]["certificate"] = certificate
    assert any(sentence in problem for problem in verify(**rows))


def test_a_certificate_bounds_what_was_achieved_by_its_ratio(rows):
    earned = rows["summary"]["metrics"]["total_utility"]

    def certified(bound, ratio):
        rows["summary"]["certificate"] = {"kind": "trivial", "achieved": earned, "bound": bound, "ratio": ratio}
        return verify(**rows)

    assert certified(2 * earned, 0.5) == []
    assert "bounds a utility of" in certified(earned / 2, 1)[0]
    assert "the certificate has the ratio 0.9" in certified(2 * earned, 0.9)[0]


def test_what_may_be_left_out_may_be_left_out(rows):
    """horizon_slots, cloud, roles, away, and resources that a server has none of."""
    run = output_of(
        builders_slotted.cluster(builders_slotted.worker_server("w0"), builders_slotted.ps_server("s0"), horizon=None),
        [builders_slotted.job("a", slots=2)],
        "fifo",
        0,
        {},
    )
    assert verify(**run) == []
    for name in ("horizon_slots", "cloud"):
        del run["cluster"][name]
    for server in run["cluster"]["servers"]:
        del server["away"]
    del run["cluster"]["servers"][1]["capacity"]["gpu"]
    assert verify(**run) == []
    del run["cluster"]["servers"][0]["capacity"]["gpu"]
    assert "server w0 holds 1 of 0 gpu from 0 ms" in verify(**run)


def test_chunks_workers_and_groups_are_compared_as_well(rows):
    worker_row(rows)["lane"] = "3"
    assert sum(p.startswith(f"schedule.csv: job {worker_row(rows)['job']}: worker on") for p in verify(**rows)) == 2


def test_every_reason_that_has_a_sentence_is_known():
    assert all("no sentence" not in (unclear(code, {}, ()) or "") for code in SENTENCES)
    assert unclear("because", {}, ()).startswith("reason 'because': ValueError: no sentence")


ODD = st.sampled_from(
    [
        None,
        True,
        -1,
        0,
        1.5,
        "x",
        "",
        [],
        {},
        2**53,
        2**63,
        10**30,
        1e308,
        -1e308,
        [None],
        {"a": 1},
        "\0",
        [[1]],
        "rejected",
        "priced",
        "all",
        "9" * 30,
    ]
)


@settings(max_examples=cases(400, 60), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_nothing_makes_it_fail(small, data):
    """One or two values of any file, replaced or taken out wherever they stand."""
    rows = copy.deepcopy(small)
    for _ in range(data.draw(st.integers(1, 2))):
        place, step = rows, data.draw(st.sampled_from(sorted(rows)))
        while isinstance(place[step], dict | list) and place[step] and data.draw(st.integers(0, 4)):
            place = place[step]
            step = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if place is not rows and data.draw(st.booleans()):
            del place[step]
        else:
            place[step] = copy.deepcopy(data.draw(ODD))  # or the next round would change what is drawn later
    files = ("jobs", "schedule", "decisions", "events")
    if all(isinstance(rows[name], list) for name in files):  # a reader gives lists of lines
        problems = verify(**rows)
        assert all(isinstance(problem, str) and problem for problem in problems)


@pytest.fixture(scope="module")
def small():
    return output("oasis", num_jobs=6, num_servers=4)


def test_a_payoff_that_is_nearly_nothing_is_none():
    """So steep that whoever ends in a later slot is worth 1e-217 or less, at prices that are lower still."""
    rows = output("oasis", utility=Utility(100.0, 500.0, 0.0), floor_scale=1e-12)
    payoffs = [
        d["reason"]["values"]["payoff"] for d in rows["decisions"] if d["reason"]["code"] == "payoff_not_positive"
    ]
    assert any(0 < payoff <= 1e-12 for payoff in payoffs)
    assert verify(**rows) == []


def test_the_remaining_shares_of_an_edit_are_at_least_0_and_below_1():
    edited = {
        "phase": 1, "said": [], "scheduler": "oasis", "parameters": {}, "kept": 0, "displaced": [], "offered": 1,
    }  # fmt: skip
    assert DATA["edited"](edited | {"shares": [[0, 0.5]]}) is None
    for share in (1.0, -0.1, None):
        broken = DATA["edited"](edited | {"shares": [[0, share]]})
        assert broken is not None
        assert "a list of [job, remaining share of its work, at least 0 and below 1]" in broken
