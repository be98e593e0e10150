"""The sampler `sstat` against a real Slurm that gathers the use of jobs, and against one that does not."""

import pytest

from tests.live.slurm_cluster import Cluster, missing, until
from twin.connectors.facts import ConnectorError
from twin.samplers import base
from twin.samplers.facts import occupancy_of

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing())]
GATHERS = "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=task=1\n"


@pytest.fixture
def cluster(tmp_path, request):
    made = Cluster(tmp_path / "c", 28_000, request.param)
    made.start()
    yield made
    made.clear()
    made.stop()


def seconds_used(cluster):
    """Seconds of CPU of all steps of the array."""
    rows = cluster.run("sstat", "-a", "-P", "-n", "-j", "1", "-o", "JobID,AveCPU").split()
    times = {step: spent.split(":") for step, _, spent in (row.partition("|") for row in rows)}
    return sum(int(h) * 3600 + int(m) * 60 + int(s) for h, m, s in times.values())


@pytest.mark.parametrize("cluster", [GATHERS], indirect=True)
def test_the_cpus_and_the_memory_of_running_jobs_are_read(cluster):
    cluster.sbatch("--array=1-2", "-c1", "-w", "edge1", wrap="while :; do :; done")
    cluster.sbatch("-c1", "-w", "edge2", wrap="sleep 600")
    connector = cluster.connector()
    occupancy = until(
        lambda: (found := occupancy_of(connector.snapshot())) and len(found.running) == 3 and found, "3 run"
    )
    sampler = base.build("sstat", {"conf": str(cluster.conf)})
    (finding,) = until(lambda: (found := sampler.check(occupancy))[0].well and found, "sstat reports the jobs")
    assert finding.message == "sstat reports 3 of 3 running jobs (jobacct_gather/linux)"
    until(lambda: seconds_used(cluster) >= 2, "the loops run")
    sampler.sample(occupancy)
    before = seconds_used(cluster)
    until(lambda: seconds_used(cluster) >= before + 10, "the loops keep CPUs busy")  # sstat reports whole seconds
    uses = {use.node: use for use in sampler.sample(occupancy).uses}
    assert 0.2 < uses["edge1"].cpus < 3
    assert uses["edge1"].memory_mb > 0
    assert uses["edge2"].cpus < 0.2
    assert (uses["edge3"].cpus, uses["edge3"].memory_mb) == (0, 0)


@pytest.mark.parametrize("cluster", [""], indirect=True)
def test_without_gathering_the_setting_is_named(cluster):
    cluster.sbatch("-c1", wrap="sleep 600")
    connector = cluster.connector()
    occupancy = until(lambda: (found := occupancy_of(connector.snapshot())) and found.running and found, "the job runs")
    sampler = base.build("sstat", {"conf": str(cluster.conf)})
    (finding,) = sampler.check(occupancy)
    assert finding.message == "JobAcctGatherType is jobacct_gather/none"
    with pytest.raises(ConnectorError, match="JobAcctGatherType=jobacct_gather/linux"):
        sampler.sample(occupancy)
