"""Chunks in the unlimited cloud, worked by hand: a server whose site is the cloud is a server."""

from dataclasses import replace

from scheduling.reporting.metrics import summarize
from tests.scheduling.builders_typed_workers import job, machine, run, world


def test_only_chunks_in_the_unlimited_cloud_are_counted():
    """Four chunks of 100 ms on the worker of a cloud server, or three of them after an upload of 20 ms to the cloud."""
    server = replace(machine(), site="cloud")
    jobs = [job("a", 0, 100, chunks=4, cloud=20)]
    for cloud, name, chunks, jct_ms in (
        (True, "a_online", 3, 120),
        (True, "a_online_edge", 0, 400),
        (False, "a_online", 0, 400),
    ):
        cluster = world(server, cloud=cloud)
        found = summarize(run(cluster, jobs, name), cluster, jobs)
        assert (found["lanes"]["cloud_chunks"], found["mean_jct_ms"]) == (chunks, jct_ms), name
