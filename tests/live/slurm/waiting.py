"""States of jobs of a real Slurm that tests wait for."""

from tests.live.slurm_cluster import until
from twin.connectors import facts


def runs(job):
    return job.state == facts.RUNNING and job.reason != "COMPLETING"


def start_again(cluster, follower, key):
    """Starts a requeued job instead of after two minutes; in the second of its requeue slurmd would refuse it."""
    ended_ms = follower(key, lambda job: job.reason == "BeginTime").attempts[-1].ended_ms
    until(lambda: follower.connector.snapshot().at_ms > ended_ms + 2000, "two seconds have passed")
    cluster.run("scontrol", "update", f"jobid={key}", "starttime=now")
