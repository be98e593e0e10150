"""Files and values are the same thing: what is written is read back as it was."""

import pytest

from scheduling.model.values import Cluster, Job, ModelError, Server, Utility
from scheduling.workloads import generate
from twin.files.cluster_json import cluster_from_dict, cluster_to_dict, dump_cluster, parse_cluster
from twin.files.jobs_jsonl import job_lines, load_jobs
from twin.files.outputs import cell
from twin.files.units import to_thousandths, to_whole


def test_a_generated_workload_survives_the_round_trip():
    cluster, jobs = generate("oasis", num_jobs=25, num_servers=10, seed=3)
    assert parse_cluster(dump_cluster(cluster)) == cluster
    assert load_jobs(b"".join(job_lines(jobs))) == jobs


def test_every_part_of_a_job_survives_the_round_trip():
    job = Job(
        "a", 5, model="m", epochs=1, num_chunks=2, minibatches_per_chunk=3, minibatch_ms=0.125, gradient_mb=4.5,
        worker=(1, 2, 3, 4, 5), ps=(0, 1, 2, 3, 4), num_samples=6, global_batch=7, sample_ms=0.5, workers_per_ps=8,
        internal_gbps=1.5, external_gbps=0.5, ps_update_ms=1.0, worker_type="t", ps_type="p", upload_ms=(1, 2),
        cloud_upload_ms=3, chunk_mb=1.0, requested_workers=9, comp_machine_ms=1.5, comm_ms=2.5, iterations=10,
        iterations_per_epoch=11, input_gb=1.0, model_gb=2.0, utility=Utility(1.0, 2.0, 3.0),
        provenance={"epochs": "trace"},
    )  # fmt: skip
    assert load_jobs(b"".join(job_lines([job]))) == [job]


def test_thousandths_are_exact_in_both_directions():
    assert [to_thousandths("s", "n", value) for value in (0.1, 2.675, 1e-3, 7)] == [100, 2675, 1, 7000]
    assert [to_whole(amount) for amount in (100, 2675, 7000)] == [0.1, 2.675, 7]
    with pytest.raises(ModelError, match=r"server a: capacity.gpu must have at most three decimals, got 0.0005"):
        to_thousandths("server a", "capacity.gpu", 0.0005)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"slot_ms": 0}, "cluster c: slot_ms must be an integer > 0 ms, got 0"),
        ({"horizon_slots": 1.5}, "horizon_slots must be null or an integer > 0, got 1.5"),
        ({"colour": 1}, "cluster: unknown key 'colour'; known: name, slot_ms"),
        ({"cloud": True}, 'cloud must be null or {"unlimited": true}, got True'),
        ({"servers": []}, "servers must be at least 1, got 0"),
        ({"slot_ms": "abc"}, "cluster c: slot_ms must be a whole number, got 'abc'"),
        ({"slot_ms": 6e19}, "cluster c: slot_ms must be at most 31,536,000,000 ms, a year, got 60000000000000000000"),
        ({"servers": "abc"}, "cluster: servers must be a list, got 'abc'"),
        ({"servers": [{"name": "cloud", "capacity": {}}]}, "reserved 'cloud'"),
        (
            {"servers": [{"name": "a", "capacity": {"tpu": 1}}]},
            "server a: capacity has no resource 'tpu'; known: gpu, cpu",
        ),
        (
            {"servers": [{"name": "a", "capacity": {}}, {"name": "a", "capacity": {}}]},
            "server names must be distinct, got 'a'",
        ),
        ({"servers": [{"name": "a", "site": "moon", "capacity": {}}]}, "site must be one of edge, cloud, got 'moon'"),
        ({"servers": [{"name": "a", "queues": "q", "capacity": {}}]}, "a: queues must be a list of names, got 'q'"),
    ],
)
def test_a_wrong_cluster_is_refused_with_the_rule(change, sentence):
    good = {
        "name": "c",
        "slot_ms": 1000,
        "horizon_slots": None,
        "servers": [{"name": "a", "capacity": {"gpu": 1}, "queues": ["p", "q"]}],
        "cloud": None,
    }
    server = Server("a", "edge", (1000, 0, 0, 0, 0), queues=("p", "q"))
    assert cluster_from_dict(good) == Cluster("c", 1000, (server,))
    with pytest.raises(ModelError) as refusal:
        cluster_from_dict({**good, **change})
    assert sentence in str(refusal.value)
    assert cluster_from_dict(cluster_to_dict(cluster_from_dict(good))) == cluster_from_dict(good)


def test_a_spreadsheet_finds_no_formula():
    assert [cell(text) for text in ("=1+1", "+1", "-1", "@x", "a=1")] == ["'=1+1", "'+1", "'-1", "'@x", "a=1"]
