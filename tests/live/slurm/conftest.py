"""A real Slurm for the tests of this folder, and what they wait for."""

import re
import socket
from pathlib import Path

import pytest

from tests.live.slurm_cluster import Cluster, has_database, until

DOC = Path(__file__).parents[3] / "docs" / "connect-slurm.md"
LICENCES = "Licenses=matlab:2\n"
PREEMPTION = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nKillWait=2\n"


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def running_cluster(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slurm")
    port = free_port()
    (script,) = re.findall(r"```bash\n(.*?)```", DOC.read_text(), re.DOTALL)
    hook = folder / "hint"
    hook.write_text(script.replace("17999", str(port)))
    hook.chmod(0o755)
    cluster = Cluster(
        folder / "c",
        request.module.PORT,
        PREEMPTION + LICENCES + f"PrologSlurmctld={hook}\nEpilogSlurmctld={hook}\n",
        accounting=has_database(),
    )
    cluster.hook_port = port
    cluster.start()
    try:
        cluster.run("scontrol", "create", "PartitionName=high", "Nodes=edge[1-4]", "PriorityTier=10", "PreemptMode=OFF")
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def cluster(running_cluster):
    yield running_cluster
    running_cluster.clear()


@pytest.fixture
def follower(cluster):
    """(poll of a job until it is so, the connector)."""
    connector = cluster.connector()

    def job(key, so, what="the job is so"):
        def snapshot():
            found = [job for job in connector.snapshot().jobs if job.key == key]
            return next((job for job in found if so(job)), None)

        return until(snapshot, f"{key}: {what}")

    job.connector = connector
    return job
