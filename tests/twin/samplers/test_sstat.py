"""The sampler `sstat` with commands that print what Slurm 22.05 prints."""

import os

import pytest

from twin.connectors.facts import ConnectorError, NodeFact, Share
from twin.samplers import base
from twin.samplers.facts import Occupancy, Running

NODES = {name: NodeFact(name, cpus=8, memory_mb=16_000) for name in ("edge1", "edge2")}
KEYS = "1                   1\n4                   2_1\n2                   2_2\n5                   5+0\n"
FIRST = """1.batch|00:00:00|1|cpu=00:00:00,energy=0,fs/disk=28682,mem=10704K,pages=2,vmem=219460K
1.0|00:00:01|2|cpu=00:00:03,energy=0,fs/disk=15618,mem=6192K,pages=0,vmem=8720K
4.batch|00:00:03|1|cpu=00:00:03,energy=0,fs/disk=4131,mem=1540K,pages=0,vmem=2592K
4.batch|00:00:03|1|cpu=00:00:03,energy=0,fs/disk=4131,mem=1540K,pages=0,vmem=2592K
2.extern||||
"""
LATER = FIRST.replace("00:00:03", "00:02:03").replace("4.batch", "4.0") + "\n\nnot|a|row\n"


class Site:
    """A folder of commands, and a clock."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.at_s = folder, 1_000.0
        self.put("squeue", f"cat <<'END'\n{KEYS}END")
        self.put("scontrol", "echo 'JobAcctGatherType       = jobacct_gather/linux'")
        self.put("sstat", f"cat <<'END'\n{FIRST}END")
        monkeypatch.setattr("twin.samplers.sstat.time.monotonic", lambda: self.at_s)
        monkeypatch.setattr("twin.samplers.sstat.time.time_ns", lambda: int(self.at_s * 1e9))

    def put(self, name, body):
        (self.folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (self.folder / name).chmod(0o755)

    def sampler(self):
        return base.build("sstat", {"prefix": f"env PATH={self.folder}:{os.environ['PATH']}"})


@pytest.fixture
def site(tmp_path, monkeypatch):
    return Site(tmp_path, monkeypatch)


def occupancy(**shares) -> Occupancy:
    """Jobs that have run for long: key="edge1:4,edge2:2"."""
    running = {}
    for key, text in shares.items():
        parts = [part.split(":") for part in text.split(",")]
        running[key.lstrip("j")] = Running(0, tuple(Share(node, cpus=int(cpus)) for node, cpus in parts))
    return Occupancy(NODES, running)


def uses(sample):
    return {use.node: (use.cpus, use.memory_mb) for use in sample.uses}


def test_cpus_are_the_difference_of_two_samples(site):
    sampler, jobs = site.sampler(), occupancy(j1="edge1:4")
    assert uses(sampler.sample(jobs)) == {"edge1": (None, 16), "edge2": (0, 0)}
    site.at_s += 60
    site.put("sstat", f"cat <<'END'\n{LATER}END")
    assert uses(sampler.sample(jobs)) == {"edge1": (2, 16), "edge2": (0, 0)}


def test_a_job_on_several_nodes_is_split_by_its_cpus(site):
    sampler, jobs = site.sampler(), occupancy(j1="edge1:6,edge2:2")
    sampler.sample(jobs)
    site.at_s += 60
    site.put("sstat", f"cat <<'END'\n{LATER}END")
    assert uses(sampler.sample(jobs)) == {"edge1": (1.5, 12), "edge2": (0.5, 4)}


def test_the_number_of_a_task_is_translated_to_its_name(site):
    found = site.sampler().sample(occupancy(j2_1="edge2:1"))
    assert uses(found) == {"edge1": (0, 0), "edge2": (None, 2)}


def test_the_cpus_of_a_node_with_a_job_that_is_not_told_are_unknown(site):
    sampler, jobs = site.sampler(), occupancy(j1="edge1:4", j9="edge1:1")
    sample = sampler.sample(jobs)
    assert uses(sample)["edge1"] == (None, None)
    assert sample.why == "sstat does not report 1 of 2 running jobs"


def test_a_job_that_started_after_the_last_sample_counts_from_its_start(site):
    sampler = site.sampler()
    sampler.sample(Occupancy(NODES))
    site.at_s += 60
    started = Occupancy(NODES, {"1": Running(int(1_030e3), (Share("edge1", cpus=4),))})
    assert uses(sampler.sample(started))["edge1"] == (pytest.approx(3 / 60), 16)


def test_a_sampler_that_may_ask_about_no_job_says_what_helps(site):
    site.put("sstat", "echo 'sstat: error: problem getting step_layout: Invalid user id' >&2")
    with pytest.raises(ConnectorError, match="sstat reports none of 1 running job: run the twin as SlurmUser"):
        site.sampler().sample(occupancy(j1="edge1:4"))
    (found,) = site.sampler().check(occupancy(j1="edge1:4"))
    assert (found.well, found.message) == (False, "sstat reports 0 of 1 running job (jobacct_gather/linux)")


def test_gathering_that_is_off_is_said_with_the_setting(site):
    site.put("scontrol", "echo 'JobAcctGatherType       = jobacct_gather/none'")
    (found,) = site.sampler().check(occupancy(j1="edge1:4"))
    assert (found.well, found.needed, found.message) == (False, False, "JobAcctGatherType is jobacct_gather/none")
    assert "JobAcctGatherType=jobacct_gather/linux" in found.remedy


def test_a_prefix_that_starts_a_command_is_unsafe():
    assert base.build("sstat", {"prefix": "rm -rf"}).unsafe().startswith("prefix must not be the command 'rm'")
    assert base.build("sstat", {"prefix": "ssh -o BatchMode=yes login1"}).unsafe() == ""
