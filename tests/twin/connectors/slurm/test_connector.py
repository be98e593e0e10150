"""The Slurm connector with commands that print recorded answers, whole, wrong and partial ones."""

import os

import pytest

from tests.twin.connectors.slurm.texts import RECORDED, VERSIONS
from twin.connectors import base, facts
from twin.connectors.facts import ConnectorError, NoAccounting

SQUEUE = """
case $1 in --version) echo slurm-wlm {version}.1; exit;; esac
token=$(printf %s "$6" | sed 's/.*:@\\(.*\\)+$/\\1/')
sed "s/@ab12/@$token/g" {recorded}/slurm-{version}-queue.txt
"""
SCONTROL = """
case "$1 $2" in
    "show node") cat {recorded}/slurm-{version}-nodes.txt;;
    "show config") printf 'PrivateData = none\\nMinJobAge = 300 sec\\nAccountingStorageType = (null)\\n';;
    "show job") if [ "$3" = -d ]; then cat {recorded}/slurm-{version}-jobs.txt
      else grep "^JobId=$3 " {recorded}/slurm-{version}-jobs.txt; fi;;
esac
"""

SACCT = """
delimiter=$(printf %s "$6" | sed 's/--delimiter=//')
case " $* " in *" -j 5 "*) printf '%s' 'ROWS' | sed "s/|/$delimiter/g";; esac
"""


class Site:
    """A folder of commands that comes first in PATH."""

    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        self.put("squeue", SQUEUE)
        self.put("scontrol", SCONTROL)
        self.put("sdiag", "cat {recorded}/slurm-{version}-sdiag.txt")
        self.put("sacct", "echo Slurm accounting storage is disabled >&2; exit 1")

    def put(self, name, body):
        path = self.folder / name
        path.write_text(
            "#!/bin/sh\n" + body.replace("{recorded}", str(RECORDED)).replace("{version}", self.version) + "\n"
        )
        path.chmod(0o755)

    def connector(self, **parameters):
        return base.build("slurm", {"prefix": f"env PATH={self.folder}:{os.environ['PATH']}", **parameters})


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path, VERSIONS[0])


@pytest.mark.parametrize("version", VERSIONS)
def test_a_look_has_jobs_nodes_and_the_controllers_time(tmp_path, version):
    connector = Site(tmp_path, version).connector()
    snapshot = connector.snapshot()
    assert (snapshot.complete, snapshot.why, len(snapshot.nodes), len(snapshot.jobs) > 140) == (True, "", 3, True)
    assert set(snapshot.calls) == {"squeue", "scontrol", "sdiag"}
    assert connector.snapshot(nodes=False).nodes is None


def test_details_are_read_one_by_one_and_kept(site):
    connector = site.connector()
    running = {job.key for job in connector.snapshot().jobs if job.state == facts.RUNNING}
    assert running == {"1", "2_0", "2_1", "4"}
    assert [job.attempts[0].shares[0].gpu_ids for job in connector.details(["1", "4", "no such job"])] == [
        (0, 1),
        (0, 1, 2),
    ]
    again = {job.key: job for job in connector.snapshot(nodes=False).jobs}
    assert again["4"].attempts[0].shares[0].gpu_ids == (0, 1, 2)


def test_details_of_many_are_read_in_one_call(site, monkeypatch):
    monkeypatch.setattr("twin.connectors.slurm.MAX_SINGLE", 1)
    connector = site.connector()
    connector.snapshot()
    assert {job.key: job.attempts[0].shares[0].gpu_ids for job in connector.details(["1", "2_0", "2_1", "4"])} == {
        "1": (0, 1), "2_0": (2,), "2_1": (3,), "4": (0, 1, 2),
    }  # fmt: skip


def test_a_bound_that_was_reached_is_reported_and_the_look_is_complete(site):
    snapshot = site.connector(max_array_tasks=5).snapshot()
    assert snapshot.complete
    assert snapshot.why == "array 10 has 134 waiting tasks, of which the first 5 are shown"


def test_an_empty_queue_is_not_believed_when_the_controller_counts_jobs(site):
    site.put("squeue", "true")
    snapshot = site.connector().snapshot()
    assert (snapshot.jobs, snapshot.complete) == ((), False)
    assert snapshot.why.startswith("squeue shows no job, yet slurmctld counted 14 waiting and 0 running ones")


def test_an_account_without_accounting_sees_only_its_own_jobs(site):
    site.put("squeue", "true")
    site.put("scontrol", SCONTROL.replace("PrivateData = none", "PrivateData = jobs"))
    site.put("id", "echo ada")
    snapshot = site.connector().snapshot()
    assert (snapshot.complete, snapshot.own) == (True, "ada")
    reason = "this account (ada) sees only its own jobs, because PrivateData in slurm.conf names jobs: `sacctmgr modify"
    assert snapshot.why.startswith(reason)
    site.put("sacctmgr", "echo Operator")
    assert (site.connector().snapshot().complete, site.connector().snapshot().own) == (False, "")


def test_rights_that_are_gone_are_noticed_at_the_first_look_without_jobs_of_others(site):
    site.put("id", "echo ada")
    site.put("scontrol", SCONTROL.replace("PrivateData = none", "PrivateData = jobs"))
    site.put("sacctmgr", "echo Operator")
    connector = site.connector()
    assert connector.snapshot().own == ""
    site.put("sacctmgr", "echo None")
    site.put("squeue", "true")
    assert connector.snapshot().own == "ada"


def test_an_empty_queue_is_believed_when_the_controller_agrees(site):
    site.put("squeue", "true")
    site.put("sdiag", "sed 's/Jobs pending:.*/Jobs pending: 0/' {recorded}/slurm-{version}-sdiag.txt")
    assert site.connector().snapshot().complete


def test_the_connection_test_of_a_cluster_without_jobs_and_without_gpus(site):
    site.put("squeue", "case $1 in --version) echo slurm-wlm {version}.1;; esac")
    site.put("sdiag", "sed 's/Jobs pending:.*/Jobs pending: 0/' {recorded}/slurm-{version}-sdiag.txt")
    site.put("scontrol", SCONTROL.replace("nodes.txt", "nodes.txt | sed 's/Gres=[^ ]*/Gres=(null)/'"))
    found = site.connector().check()
    assert found.well
    messages = {finding.subject: (finding.well, finding.message) for finding in found.findings}
    assert messages["jobs"] == (True, "sees 0 jobs, 0 of them running")
    assert messages["nodes"] == (True, "3 nodes, 0 GPUs: jobs are shown by their CPUs")


def test_no_nodes_are_an_incomplete_look(site):
    site.put("scontrol", "echo No nodes in the system")
    snapshot = site.connector().snapshot()
    assert (snapshot.complete, snapshot.why, snapshot.nodes) == (False, "scontrol shows no nodes", ())


@pytest.mark.parametrize(
    ("command", "body", "message"),
    [
        (
            "squeue",
            "echo slurm_load_jobs error: Unable to contact slurm controller >&2; exit 1",
            "squeue failed with exit code 1",
        ),
        ("squeue", "head -c 400 {recorded}/slurm-{version}-queue.txt", "squeue: the answer ends in the middle"),
        (
            "squeue",
            "echo Welcome to login1",
            "squeue: the answer ends in the middle of a row, or is not a table: 'Welcome to login1'",
        ),
        ("squeue", "exec sleep 1000", "squeue did not answer within 1 s"),
        ("squeue", "exec yes", "squeue printed more than 1 MB"),
        (
            "scontrol",
            "echo slurm_load_node error: Access/permission denied >&2; exit 1",
            "scontrol failed with exit code 1",
        ),
        ("sdiag", "echo nonsense", "sdiag: no line like"),
    ],
)
def test_a_look_that_fails_is_refused_as_a_whole(site, command, body, message):
    site.put(command, body)
    with pytest.raises(ConnectorError) as error:
        site.connector(timeout_ms=1000, max_output_mb=1).snapshot()
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_the_connection_test_tells_the_offset_of_the_clocks_and_that_accounting_is_off(site):
    found = site.connector().check()
    findings = {finding.subject: finding for finding in found.findings}
    assert (found.version, found.well) == ("22.05.1", True)
    # the recording is of another time
    assert (findings["clock"].well, "timedatectl" in findings["clock"].remedy) == (False, True)
    assert (findings["accounting"].well, findings["accounting"].needed) == (False, False)
    assert findings["nodes"].message == "3 nodes, 12 GPUs"


@pytest.mark.parametrize(
    ("command", "body", "subject", "remedy"),
    [
        ("squeue", "exit 127", "commands", "apt-get install slurm-client"),
        ("squeue", "echo slurm-wlm 20.11.4", "version", "22.05 or newer"),
        ("sdiag", "echo Protocol authentication error >&2; exit 1", "controller", "copy /etc/munge/munge.key"),
    ],
)
def test_the_connection_test_names_what_helps(site, command, body, subject, remedy):
    site.put(command, body)
    found = site.connector().check()
    assert not found.well
    (finding,) = [finding for finding in found.findings if not finding.well and finding.needed][:1]
    assert (finding.subject, remedy in finding.remedy) == (subject, True)


def test_history_without_accounting_says_what_is_missing(site):
    with pytest.raises(
        NoAccounting,
        match=r"sacct failed with exit code 1: Slurm accounting storage is disabled; set AccountingStorageType=",
    ):
        list(site.connector().history(0, 1))


def test_the_accounting_of_jobs_has_their_attempts_though_they_run(site):
    columns = [
        "5_1|NODE_FAIL|1000|1010|1010|5|1|edge1|cpu=1|cpu=1|edge|ann||7|None|",
        "5_1|RUNNING|1020|1130|Unknown|5|1|edge2|cpu=1|cpu=1|edge|ann||7|None|",
        "5_2|COMPLETED|1000|1010|1020|5|1|edge1|cpu=1|cpu=1|edge|ann||7|None|",
    ]
    rows = "".join(f"{row}|\n" for row in columns)
    site.put("sacct", SACCT.replace("ROWS", rows))
    (job,) = site.connector().accounted(["5_1"])
    assert (job.state, job.restarts, job.submitted_ms, job.resubmitted_ms) == (
        facts.RUNNING, 1, 1_000_000, (1_020_000,),
    )  # fmt: skip
    assert [(one.started_ms, one.ended_ms, one.outcome) for one in job.attempts] == [
        (1_010_000, 1_010_000, facts.NODE_FAIL), (1_130_000, None, ""),
    ]  # fmt: skip


def test_cost_is_that_of_this_account(site):
    site.put("id", "echo 0")
    assert site.connector().cost()["calls"] == 24


def test_a_port_that_is_taken_is_named(site):
    first = site.connector(hook_port=0)
    first.changes()
    with pytest.raises(
        ConnectorError,
        match=rf"hints cannot be received at UDP 127\.0\.0\.1:{first._hints.port}: Address already in use",
    ):
        site.connector(hook_port=first._hints.port).changes()
    first.close()
