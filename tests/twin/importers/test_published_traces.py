"""The real trace files import with the counts that their publishers state."""

from collections import Counter

import pytest

from scheduling.model.training_models import oasis_minibatch_ms, pd_ors_sample_ms
from twin.traces.importers import Choice, ImportRefused, Upload, read, sniff
from twin.traces.uploads.openfile import opened

PHILLY = "philly_derived/philly_2017-10-01_2017-10-15.csv"


@pytest.fixture(scope="module")
def philly(traces):
    return read(traces / PHILLY, seed=1)


def test_it_keeps_every_row_of_the_philly_file(philly):
    """24,134 rows, 27,984 GPUs; rows that are equal in every column are separate jobs."""
    assert len(philly.jobs) == 24_134
    assert Counter(job.requested_workers for job in philly.jobs) == {1: 23_214, 2: 385, 4: 200, 8: 300, 16: 20, 32: 15}
    assert sum(job.requested_workers for job in philly.jobs) == 27_984
    assert philly.report["skipped"] == []
    assert len({job.id for job in philly.jobs}) == 24_134


def test_it_sorts_by_arrival_and_counts_from_the_first_row(philly):
    """00:00:45 on the first day to 23:57:58 on the last: 14 days less 167 s."""
    arrivals = [job.arrival_ms for job in philly.jobs]
    assert arrivals == sorted(arrivals)
    assert arrivals[0] == 0
    assert arrivals[-1] == (14 * 86_400 - 45 - 122) * 1000


def test_the_work_of_the_trace_is_kept_for_both_models(philly):
    """174,470.635 GPU-hours in all, and job by job, whether a scheduler counts mini-batches or samples."""
    oasis = [job.epochs * job.num_chunks * job.minibatches_per_chunk * oasis_minibatch_ms(job) for job in philly.jobs]
    samples = [job.epochs * job.num_samples * pd_ors_sample_ms(job, internal=False) for job in philly.jobs]
    assert sum(oasis) / 3_600_000 == pytest.approx(174_470.635, abs=0.001)
    assert samples == pytest.approx(oasis, rel=1e-9)
    assert min(job.minibatch_ms for job in philly.jobs) > 0
    assert all(job.num_chunks >= job.requested_workers for job in philly.jobs)


def test_it_says_where_each_field_comes_from(philly):
    provenance = philly.report["provenance"]
    assert provenance["requested_workers"] == {"trace": 24_134}
    assert provenance["minibatch_ms"] == {"derived": 24_134}
    assert provenance["utility"] == {"drawn": 24_134}
    assert philly.report["outside_range"]["epochs"] == sum(not 50 <= job.epochs <= 200 for job in philly.jobs) > 10_000


def test_another_seed_changes_only_what_is_sampled(traces, philly):
    other = read(traces / PHILLY, seed=2, choice=Choice(limit=200)).jobs
    for ours, theirs in zip(philly.jobs, other, strict=False):
        assert (ours.id, ours.arrival_ms, ours.requested_workers) == (
            theirs.id,
            theirs.arrival_ms,
            theirs.requested_workers,
        )
        assert ours.utility != theirs.utility


def test_a_window_changes_no_job_in_it(traces, philly):
    """Draws are keyed by row: the jobs of the second day are the same whatever else is imported."""
    day = 86_400_000
    window = read(traces / PHILLY, seed=1, choice=Choice(from_ms=day, to_ms=2 * day)).jobs
    whole = [job for job in philly.jobs if day <= job.arrival_ms < 2 * day]
    assert len(window) == len(whole) > 1_000
    for ours, theirs in zip(window, whole, strict=True):
        assert ours.arrival_ms == theirs.arrival_ms - day
        assert (ours.id, ours.worker, ours.utility, ours.minibatch_ms) == (
            theirs.id,
            theirs.worker,
            theirs.utility,
            theirs.minibatch_ms,
        )


def test_it_reads_the_whole_openb_node_list(traces):
    """1,523 nodes, 6,212 GPUs, 125,514 vCPUs; 310 nodes without GPUs host the parameter servers."""
    result = read(traces / "alibaba_openb/openb_node_list_all_node.csv")
    servers = result.cluster.servers
    assert len(servers) == 1_523
    assert sum(server.capacity[0] for server in servers) == 6_212_000
    assert sum(server.capacity[1] for server in servers) == 125_514_000
    assert Counter(server.roles for server in servers) == {("worker",): 1_213, ("ps",): 310}
    assert Counter(server.capacity[0] // 1000 for server in servers) == {0: 310, 1: 24, 2: 518, 4: 54, 8: 617}
    assert {server.site for server in servers} == {"edge", "cloud"}


def test_nodes_that_all_have_gpus_take_both_roles(traces):
    servers = read(traces / "alibaba_openb/openb_node_list_gpu_node.csv").cluster.servers
    assert len(servers) == 1_213
    assert {server.roles for server in servers} == {("worker", "ps")}
    assert sum(server.capacity[1] for server in servers) == 107_018_000


def test_it_skips_the_pending_pods_and_names_their_lines(traces):
    """8,152 pods, of which 897 never started; num_gpu 0 in 1,088 rows is a CPU pod and is kept when it ran."""
    result = read(traces / "alibaba_openb/openb_pod_list_default.csv")
    assert result.report["rows"] == 8_152
    assert result.report["skipped_counts"] == {"pending": 897}
    assert len(result.jobs) == 8_152 - 897
    first, second, *_ = result.jobs
    assert first.id == "openb-pod-0000"
    assert first.worker[:3] == (1000, 12_000, round(16_384 * 1.048576))
    assert second.worker[0] == 460
    assert max(job.arrival_ms for job in result.jobs) <= 12_901_761_000


def test_a_pod_list_without_times_is_refused_with_the_reason(traces):
    with pytest.raises(ImportRefused, match="no creation_time, deletion_time and scheduled_time"):
        read(traces / "alibaba_openb/openb_pod_list_multigpu20.csv")


def test_each_file_fits_one_format(traces):
    """Every real file that can be read, whatever it is packed in, fits exactly one format."""
    for name in (PHILLY, "alibaba_openb/openb_pod_list_default.csv", "alibaba_openb/openb_node_list_gpu_node.csv"):
        with opened([Upload(traces / name)]) as sources:
            assert [sum(match.fits for match in sniff(source.head)) for source in sources] == [1]
