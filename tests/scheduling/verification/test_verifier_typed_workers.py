"""The verifier of typed workers: faults of every kind are found, by their code, wherever they are put in."""

import copy
from dataclasses import replace

import numpy as np
import pytest

from scheduling.model.bars import JOB, ROLE, SERVER, START, WORKER_SLOT
from scheduling.model.limits import MAX_INT
from scheduling.verification.verify import verify
from scheduling.workloads import generate
from tests.cases import cases
from tests.scheduling import builders_random_typed
from tests.scheduling.builders import output_of


def planned(rows, role=0, server=None):
    """(event, place) of the bars of a role that run to their end."""
    plans = [event for event in rows["events"] if event["kind"] == "plan_changed"]
    named = {}
    for event in plans:
        for worker_slot in event["data"]["keys"]:
            named[tuple(worker_slot)] = event["seq"]
    return [
        (event["data"]["bars"], place)
        for event in plans
        for place, bar in enumerate(event["data"]["bars"])
        if bar[ROLE] == role and (bar[SERVER] == server or (server is None and bar[SERVER] >= 0))
        and named.get((bar[ROLE], bar[SERVER], bar[WORKER_SLOT]), 0) == event["seq"]
    ]  # fmt: skip


def shorter(rows, bars, place, rng):
    bars[place][4] -= 1 + (bars[place][4] - bars[place][3]) // 2


def too_early(rows, bars, place, rng):
    bars[place][3] = rows["jobs"][bars[place][0]]["arrival_ms"] + 1


def other_slot(rows, bars, place, rng):
    bars[place][6] += 40


def other_chunk(rows, bars, place, rng):
    bars[place][7] = rows["jobs"][bars[place][0]]["num_chunks"]


def same_chunk(rows, bars, place, rng):
    bars[place][7] = (bars[place][7] + 1) % rows["jobs"][bars[place][0]]["num_chunks"]


def two_at_once(rows, bars, place, rng):
    bars[place][5] = 2


def dropped(rows, bars, place, rng):
    del bars[place]


def longer(rows, bars, place, rng):
    bars[place][4] += 3_600_000


UNSERVED = ("parameter server",)  # a job runs without one
FAULTS = [
    (shorter, 0, ("work of the chunks", *UNSERVED, "idle parameter server")),
    (too_early, 0, ("upload", "excess work", "events.jsonl")),
    (other_slot, 0, ("form of bars", "events.jsonl")),
    (other_chunk, 0, ("number of chunks",)),
    (same_chunk, 0, ("migration", "one run per chunk", "excess work")),
    (two_at_once, 0, ("form of bars",)),
    (dropped, 0, ("work of the chunks", *UNSERVED, "idle parameter server")),
    (dropped, 1, UNSERVED),
    (shorter, 1, UNSERVED),
    (longer, 1, ("idle parameter server", "exclusive parameter server", *UNSERVED)),
    (other_slot, 1, ("form of bars", "events.jsonl")),
]


@pytest.fixture(scope="module")
def original():
    cluster, jobs = generate("a-online", num_jobs=12, num_servers=8, seed=4, span_hours=300)
    return output_of(cluster, jobs, "a_online", 1, {})


def test_it_accepts_the_original(original):
    assert verify(**copy.deepcopy(original)) == []


@pytest.mark.parametrize(
    ("fault", "role", "codes"),
    FAULTS,
    ids=[f"{fault.__name__}-{'ps' if role else 'worker'}" for fault, role, _ in FAULTS],
)
def test_it_finds_every_fault(original, fault, role, codes):
    """Put into ten places each and found by its code; the schedule file, which is still right, differs as well."""
    rng = np.random.default_rng(1)
    for number in rng.choice(len(planned(original, role)), size=10, replace=False):
        rows = copy.deepcopy(original)
        bars, place = planned(rows, role)[number]
        fault(rows, bars, place, rng)
        problems = verify(**rows)
        assert any(problem.split(":")[0] in codes for problem in problems), problems[:5]


def test_it_knows_types_absences_and_storage():
    cluster, jobs = builders_random_typed.world(6, cloud=True)
    rows = output_of(cluster, jobs, "a_online", 0, {"storage": "job"})
    assert verify(**copy.deepcopy(rows)) == []
    bar = next(bars[place] for bars, place in planned(rows))
    changed = copy.deepcopy(rows)
    changed["jobs"][bar[JOB]]["worker_type"] = "other"
    assert any(problem.startswith("allowed worker: job") for problem in verify(**changed))
    changed = copy.deepcopy(rows)
    changed["cluster"]["servers"][bar[SERVER]]["away"] = [[bar[START], bar[START] + 1]]
    assert any("which is unavailable" in problem for problem in verify(**changed))
    changed = copy.deepcopy(rows)
    changed["cluster"]["servers"][bar[SERVER]]["capacity"]["storage"] = 0
    assert any(problem.startswith("storage: server") for problem in verify(**changed))


def test_limited_storage_is_really_limiting():
    """What is scheduled as if storage were endless breaks that rule here and there; what knows of it never does."""
    broken = 0
    for seed in range(cases(40, 10)):
        cluster, jobs = builders_random_typed.world(seed, cloud=True)
        assert verify(**output_of(cluster, jobs, "a_online", 0, {"storage": "job"})) == []
        endless = output_of(cluster, jobs, "a_online", 0, {})
        for parameters in (endless["summary"]["parameters"], endless["events"][0]["data"]["parameters"]):
            parameters["storage"] = "job"
        problems = verify(**endless)
        assert all(problem.startswith("storage") for problem in problems)
        broken += bool(problems)
    assert broken >= cases(10, 1)


@pytest.mark.parametrize("scheduler", ["srtf", "tiresias_l"])
def test_gangs_are_no_larger_than_what_remains_after_a_server_has_left_for_good(scheduler):
    cluster, jobs = generate("oasis", variant="calibrated", num_jobs=12, num_servers=6, seed=3)
    middle = sorted(job.arrival_ms for job in jobs)[len(jobs) // 2]
    left = [replace(server, away=((middle, MAX_INT),)) for server in cluster.servers[1:]]
    cluster = replace(cluster, servers=(cluster.servers[0], *left), horizon_slots=None)
    jobs = [replace(job, requested_workers=64) for job in jobs]
    rows = output_of(cluster, jobs, scheduler, 0, {})
    sizes = {
        bar[WORKER_SLOT] for event in rows["events"] if event["kind"] == "plan_changed" for bar in event["data"]["bars"]
    }
    assert len(sizes) > 1
    assert verify(**rows) == []
