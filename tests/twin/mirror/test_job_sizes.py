"""A job of a real cluster that restarts with another size: each bar is measured by the size of its own time.

The job of all tests runs with 4 GPUs and 4 CPUs, is requeued, and runs with 1 GPU and 4 CPUs, on a node with 8 GPUs, 8
CPUs and 16 GB: a worker of the first attempt holds a GPU, a CPU and a GB, the one of the second a GPU, 4 CPUs and 4 GB.
"""

from __future__ import annotations

from base64 import b64decode
from dataclasses import replace

import orjson
import pytest

from dashboard.readmodels import job_story, job_table, run_payloads
from scheduling.model.held import size_at
from scheduling.model.values import GPU, EarlierSize
from tests.twin.mirror.builders import Log, at, ended, job, polled
from tests.twin.mirror.builders_stored import log_ms, recorded, write
from tests.twin.mirror.whatif.builders_servers import servers_of
from twin.analysis import closing_metrics, levels, thumbnail
from twin.analysis.situation import load, past
from twin.connectors.facts import RUNNING, WAITING, Attempt, NodeFact, Share
from twin.eventlog import stored_states
from twin.files.jobs_jsonl import job_lines, load_jobs
from twin.mirror.history import history_of
from twin.mirror.whatif import jobs as cut_jobs
from twin.mirror.whatif.cut import RUNNING as RUNNING_PART
from twin.mirror.whatif.cut import WAITING as WAITING_PART
from twin.mirror.whatif.cut import Choice, cut, one
from twin.models import Run
from twin.scenarios import store

HOUR = 3_600  # s
GB = 1_000_000_000 // 2**20 + 1  # MiB of a GB, rounded up
NODE = NodeFact("edge1", gpus=8, cpus=8, memory_mb=16 * GB, queues=("edge",))
FOUR, ONE = ((Share("edge1", gpus=gpus, cpus=4, memory_mb=4 * GB),) for gpus in (4, 1))
FIRST = Attempt(at(0), None, FOUR)
OVER = Attempt(at(0), at(HOUR), FOUR, "requeued")
SECOND = Attempt(at(2 * HOUR), None, ONE)
ASKED = replace(job("51", RUNNING, gpus=4, attempts=(FIRST,)), cpus=4, memory_mb=4 * GB)
AGAIN = replace(ASKED, gpus=1, restarts=1, attempts=(OVER, SECOND))
POLLS = (
    polled(0, ASKED, nodes=(NODE,)),
    polled(HOUR, replace(ASKED, state=WAITING, gpus=1, restarts=1, attempts=(OVER,)), nodes=(NODE,)),
    polled(2 * HOUR, AGAIN, nodes=(NODE,)),
    polled(3 * HOUR, ended(AGAIN, 3 * HOUR), nodes=(NODE,)),
)
EACH = (1_000, 1_000, 4 * GB * 2**20 // 10**6 // 4, 0, 0)  # of the first attempt
ALONE = (1_000, 4_000, 4 * GB * 2**20 // 10**6, 0, 0)


@pytest.fixture
def run(db) -> Run:
    """The log of these polls, whose follower was restarted after each."""
    return recorded(*POLLS)


def test_the_log_states_the_earlier_size_with_its_end(run):
    (found,) = store.of_run(run)[1]
    assert (found.worker, found.requested_workers) == (ALONE, 1)
    assert found.earlier_sizes == (EarlierSize(log_ms(run, HOUR), EACH, 4),)
    assert (size_at(found, log_ms(run, HOUR) - 1).worker, size_at(found, log_ms(run, HOUR)).worker) == (EACH, ALONE)


def test_a_job_that_waits_again_counts_as_what_it_asks_for_now():
    """Its past stays as it was; one that states no amounts counts as what it held."""
    log = Log()
    for each in POLLS[:2]:
        log.apply(each)
    (found,) = history_of(log.mirror, "lab")[1]
    assert (found.worker, found.requested_workers) == (ALONE, 1)
    assert found.earlier_sizes == (EarlierSize(at(HOUR) - log.mirror.epoch_ms, EACH, 4),)
    now_ms = at(HOUR) - log.mirror.epoch_ms
    (part,) = cut(log.mirror, now_ms, servers_of(log.mirror), set(), Choice()).parts
    assert (part.state, part.gpus, part.shares) == (WAITING_PART, 1, ())
    unstated = replace(ASKED, state=WAITING, gpus=0, cpus=0, memory_mb=0, restarts=1, attempts=(OVER,))
    log.apply(polled(HOUR + 1, unstated, nodes=(NODE,)))
    (found,) = history_of(log.mirror, "lab")[1]
    assert (found.worker, found.requested_workers, found.earlier_sizes) == (EACH, 4, None)


@pytest.mark.parametrize(("second", "gpus", "cpus"), [(HOUR // 2, 4_000, 4_000), (5 * HOUR // 2, 1_000, 4_000)])
def test_the_tiles_of_a_time_have_the_amounts_of_then(run, second, gpus, cpus):
    """4 of 8 GPUs and 4 of 8 CPUs, then 1 of 8 GPUs and 4 of 8 CPUs."""
    found = past.loads_at(run, log_ms(run, second))
    assert found["scale"][:3] == ["gpu", "cpu", "memory"]
    assert found["sites"][0]["used"][:2] == [gpus, cpus]
    assert found["servers"]["shares"][:2] == [[gpus // 8], [cpus // 8]]


def test_curves_rasters_and_levels_have_the_amounts_of_each_time(run):
    state, cluster = stored_states.at(run.pk), store.clusters(run)[-1][1]
    held = load.held(run, state, cluster, store.of_run(run)[1], run.sim_ms, 0)
    gpu, cpu, memory = load.curve(held, log_ms(run, 0), run.sim_ms - 1, 7)["shares"][:3]
    assert gpu == [0.5, 0.5, 0.5, 0, 0, 0.125, 0.125]
    assert cpu == [0.5, 0.5, 0.5, 0, 0, 0.5, 0.5]
    assert memory == pytest.approx([0.25, 0.25, 0.25, 0, 0, 0.25, 0.25], abs=0.001)
    assert max(b64decode(thumbnail.thumbnail(run)["raster"])) == 50
    assert levels.held_by(run, state.bars.rows).amounts[:, 1].tolist() == held.amounts[:, 1].tolist()


def test_the_page_gets_the_earlier_size(run):
    static = orjson.loads(run_payloads.static(run))
    assert static["earlier_sizes"] == {"0": [[log_ms(run, HOUR), list(EACH), 4]]}
    assert static["worker"] == list(ALONE)


def test_a_job_asks_at_a_time_for_what_it_asked_for_then(run):
    for second, workers in ((HOUR // 2, 4), (3 * HOUR // 2, 1), (5 * HOUR // 2, 1)):
        at_ms = log_ms(run, second)
        story = job_story.story(run, 0, at_ms)
        fields = {field["name"]: field["value"] for field in story["fields"]}
        assert (fields["requested_workers"], story["requested_workers"]) == (workers, workers)
        assert (fields["worker"]["cpu"], "earlier_sizes" in fields) == (4 // workers, False)
        (row,) = job_table.page(run, {"at_ms": str(at_ms)})["rows"]
        assert row["requested_workers"] == workers


def test_the_closing_metrics_count_each_size_for_its_time(run):
    """Of 3 hours with 8 CPUs, 4 were held in the first and the third hour; of 8 GPUs 4, and then 1."""
    Run.objects.update(status=Run.FINISHED)
    closing_metrics.measure(run.pk)
    run.refresh_from_db()
    assert run.metrics["utilization"]["cpu"] == pytest.approx((4 + 4) / (3 * 8))
    assert run.metrics["utilization"]["gpu"] == pytest.approx((4 + 1) / (3 * 8))


def test_the_files_of_a_mirror_pass_the_verifier_with_each_size(tmp_path):
    log = Log()
    for each in POLLS:
        log.apply(each)
    assert write(log.mirror, tmp_path) == []
    metrics = orjson.loads((tmp_path / "summary.json").read_bytes())["metrics"]
    assert metrics["utilization"]["cpu"] == pytest.approx((4 + 4) / (3 * 8))


def test_an_attempt_fits_on_its_node_with_its_own_size(tmp_path):
    log = Log()
    for each in POLLS:
        log.apply(replace(each, nodes=(replace(NODE, cpus=4),)))
    assert write(log.mirror, tmp_path) == [], "16 CPUs, as the newest size gives, do not fit on 4"


def test_jobs_jsonl_states_the_earlier_sizes():
    log = Log()
    for each in POLLS:
        log.apply(each)
    jobs = history_of(log.mirror, "lab")[1]
    assert load_jobs(b"".join(job_lines(jobs))) == jobs
    assert jobs[0].earlier_sizes is not None


@pytest.mark.parametrize(
    ("second", "state", "gpus", "minutes"),
    [
        (HOUR // 2, RUNNING_PART, 4, 30 + 60 // 4),
        (3 * HOUR // 2, WAITING_PART, 1, 60),
        (5 * HOUR // 2, RUNNING_PART, 1, 30),
    ],
)
def test_a_cut_has_the_size_of_its_moment_and_the_work_left_at_that_size(second, state, gpus, minutes):
    log = Log()
    for each in POLLS:
        log.apply(each)
    mirror = log.mirror
    (part,) = cut(mirror, at(second) - mirror.epoch_ms, servers_of(mirror), set(), Choice()).parts
    assert (part.state, part.gpus, part.cpus, part.run_ms) == (state, gpus, 4, minutes * 60_000)
    like = one(mirror, mirror.jobs[0], 0, Choice())
    assert (like.gpus, like.run_ms) == (1, 5 * HOUR * 1_000), "an hour with 4 GPUs is 4 hours with 1"
    for by_node, workers in ((False, gpus), (True, 1)):
        (found,) = cut_jobs.job_table([part], 60_000, by_node=by_node).jobs()
        assert found.requested_workers == workers
        assert found.worker[GPU] == (gpus * 1_000 if by_node else 1_000)


def test_a_job_that_restarts_with_the_same_size_has_no_earlier_one():
    log = Log()
    same = replace(ASKED, restarts=1, attempts=(OVER, replace(SECOND, shares=FOUR)))
    log.apply(POLLS[0])
    events = log.apply(polled(2 * HOUR, same, nodes=(NODE,)))
    assert [kind for kind, _ in events].count("job_set") == 0


def test_sizes_alternate():
    """4 GPUs, 1 GPU, 4 GPUs; a fourth attempt has the size of the third one."""
    attempts = (
        OVER,
        Attempt(at(2 * HOUR), at(3 * HOUR), ONE, "requeued"),
        Attempt(at(4 * HOUR), at(5 * HOUR), FOUR, "requeued"),
        Attempt(at(6 * HOUR), None, FOUR),
    )
    log = Log()
    log.apply(polled(7 * HOUR, replace(ASKED, restarts=3, attempts=attempts, complete_history=True), nodes=(NODE,)))
    (found,) = history_of(log.mirror, "lab")[1]
    assert [(size.until_ms // 1_000 // HOUR, size.requested_workers) for size in found.earlier_sizes] == [
        (1 + offset(log), 4),
        (3 + offset(log), 1),
    ]
    assert found.requested_workers == 4


def offset(log: Log) -> int:
    """Hours of the log before second 0."""
    return (at(0) - log.mirror.epoch_ms) // 1_000 // HOUR
