"""Plans on a real Slurm: made, seen by squeue, taken back; refused without the right; killed at random moments."""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
import pytest

from tests.live.slurm_cluster import AS_NOBODY, NEEDS_SECOND_ACCOUNT, with_second_account
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = [pytest.mark.slow, *NEEDS_SECOND_ACCOUNT]
KILLS = int(os.environ.get("TWIN_ACTING_KILLS", 4))
LEASE_S = 20
PROPOSE = """
from twin.acting import proposals
from twin.models import Connection
lab = Connection.objects.get(name="lab")
print(proposals.propose(lab, "easy", {{"order": "shortest"}}, "{kind}").pk)
"""
SHOW = """
import json
from twin.models import Proposal
one = Proposal.objects.get(pk={pk})
rows = [[row["key"], row["field"], row["after"]] for row in one.plan.get("rows", [])]
print(json.dumps([one.status, one.message, rows, [entry.state for entry in one.entries.all()]]))
"""
APPROVE = """
from twin.acting import proposals
from twin.models import Proposal
one = Proposal.objects.get(pk={pk})
proposals.approve(one, one.digest)
"""
UNDO = """
from twin.acting import proposals
from twin.models import Proposal
proposals.undo(Proposal.objects.get(pk={pk}))
"""
RULE = """
from twin.acting import rules
from twin.models import Connection
rules.change(Connection.objects.get(name="lab"), {values})
"""


@pytest.fixture(scope="module")
def cluster():
    with with_second_account(30_300, "PriorityType=priority/multifactor\n") as found:
        yield found


@pytest.fixture(scope="module")
def stack(cluster):
    """A twin that follows the cluster, on whose four nodes long jobs run, and four jobs wait."""
    for _ in range(4):
        cluster.sbatch("--exclusive", "--gres=gpu:4", "-t", "60", wrap="sleep 3600")
    for minutes in (40, 30, 20, 10):  # each needs all nodes; the shortest first is the opposite order
        cluster.sbatch("-N4", "--exclusive", "--gres=gpu:4", "-t", str(minutes), wrap="sleep 600")
    with tempfile.TemporaryDirectory(prefix="twin-acting-") as folder:
        twin = Stack(Path(folder), PATH=cluster.environment["PATH"], ACTING_LEASE_S=str(LEASE_S)).up()
        manage = [sys.executable, str(ROOT / "manage.py")]
        argv = [*manage, "connect", "slurm", "--name", "lab", "--param", f"conf={cluster.conf}"]
        subprocess.run([*argv, "--param", "interval_ms=500"], env=twin.env, check=True, timeout=120)
        wait_until(lambda: twin.sql("select count(*) from twin_mirrorrecord where kind = 'job'")[0][0] == 8, "8 jobs")
        twin.manage(RULE.format(values={"level": 3, "calibrated": False}))
        yield twin
        twin.down()


class Acting:
    """`manage.py act lab`, supervised as operators run it."""

    def __init__(self, stack, cluster, prefix=""):
        self.stack = stack
        argv = [sys.executable, str(ROOT / "manage.py"), "act", "lab", "--set", f"conf={cluster.conf}"]
        with (stack.folder / "act.log").open("a") as log:
            self.process = subprocess.Popen([*argv, "--set", f"prefix={prefix}"], env=stack.env, stdout=log, stderr=log)
        wait_until(lambda: self.account(), "the acting process is there")

    def account(self):
        found = self.stack.sql("select actor, actor_at from twin_actingrule")
        return bool(found) and found[0][1] is not None and orjson.loads(found[0][0]).get("account")

    def children(self):
        return self.stack.processes("--unsupervised")

    def stop(self):
        self.process.terminate()
        self.process.wait(30)
        wait_until(lambda: not self.children(), "the acting process has ended")

    def kill(self):
        for process in (self.process, *self.children()):
            process.kill()
        self.process.wait(30)


@pytest.fixture
def begin_acting(stack, cluster):
    """Starts acting processes, and stops them after the test."""
    begun = []

    def begin(prefix=""):
        begun.append(Acting(stack, cluster, prefix))
        return begun[-1]

    yield begin
    for one in begun:
        if one.process.returncode is None:
            one.stop()


@pytest.fixture
def acting(begin_acting):
    return begin_acting()


def shown(stack, pk):
    return orjson.loads(stack.manage(SHOW.format(pk=pk)))


def planned(stack, kind):
    """(number, rows) of a plan that can be approved."""
    pk = int(stack.manage(PROPOSE.format(kind=kind)))
    status = "select status from twin_proposal where id = ?"
    wait_until(lambda: stack.sql(status, pk)[0][0] != "computing", "the plan is made")
    found = shown(stack, pk)
    assert found[0] == "proposed", found
    return pk, found[2]


def reached(stack, pk, *statuses):
    status = "select status from twin_proposal where id = ?"
    wait_until(lambda: stack.sql(status, pk)[0][0] in statuses, f"plan {pk} is {' or '.join(statuses)}")
    return shown(stack, pk)


def queue(cluster):
    """{key: (nice, required nodes)} of the waiting jobs, by their priority."""
    rows = cluster.run("squeue", "-h", "-t", "PD", "-S", "-p,i", "-o", "%A|%y|%n")
    return {key: (int(nice), nodes) for key, nice, nodes in (row.split("|") for row in rows.splitlines())}


def later(cluster):
    """The waiting jobs that Slurm says to wait for their begin time."""
    rows = cluster.run("squeue", "-h", "-t", "PD", "-o", "%A %r").splitlines()
    return {key for key, reason in (row.split() for row in rows) if reason == "BeginTime"}


def untouched(cluster):
    """True if no waiting job has a nice, required nodes or a begin time to come.

    The reason is not enough: a change of a job clears it until the next pass.
    """
    now = time.time()
    rows = cluster.run("squeue", "-h", "-t", "PD", "-O", "EligibleTime").splitlines()  # Unix seconds
    return all(one == (0, "") for one in queue(cluster).values()) and all(int(row) <= now for row in rows)


def test_an_order_is_made_by_nice_and_taken_back(cluster, stack, acting):
    assert list(queue(cluster)) == ["5", "6", "7", "8"]
    pk, rows = planned(stack, "order")
    stack.manage(APPROVE.format(pk=pk))
    found = reached(stack, pk, "applied", "undone", "refused")
    assert (found[0], set(found[3])) == ("applied", {"verified"}), found
    assert list(queue(cluster)) == ["8", "7", "6", "5"]
    assert {key: nice for key, (nice, _) in queue(cluster).items() if nice} == {key: after for key, _, after in rows}
    stack.manage(UNDO.format(pk=pk))
    found = reached(stack, pk, "undone")
    assert set(found[3]) == {"undone"}
    assert untouched(cluster)


def test_begin_times_are_leases_that_run_out_when_the_acting_process_is_gone(cluster, stack, begin_acting):
    acting = begin_acting()
    pk, rows = planned(stack, "placement")
    assert {field for _, field, _ in rows} == {"not_before_ms"}
    stack.manage(APPROVE.format(pk=pk))
    reached(stack, pk, "applied")
    wait_until(lambda: later(cluster) == {key for key, _, _ in rows}, "Slurm gives the begin times as the reason")
    renewed = "select min(at), min(after) from twin_journalentry where proposal_id = ? and previous is not null"
    wait_until(lambda: stack.sql(renewed, pk)[0][0], "a begin time is renewed")
    acting.kill()
    wait_until(lambda: untouched(cluster), "the begin times run out")
    begin_acting()
    assert set(reached(stack, pk, "ended")[3]) == {"ended"}


def test_an_account_without_the_right_changes_nothing_until_it_has_it(cluster, stack, begin_acting):
    acting = begin_acting(AS_NOBODY)
    assert acting.account() == (
        "nobody, which may change only its own jobs: `sacctmgr modify user nobody set adminlevel=operator`"
    )
    pk, _ = planned(stack, "order")
    stack.manage(APPROVE.format(pk=pk))
    _, message, _, states = reached(stack, pk, "undone")
    assert "Invalid user id" in message
    assert "sacctmgr modify user ACCOUNT set adminlevel=operator" in message
    assert set(states) == {"undone", "skipped"}
    assert untouched(cluster)
    cluster.run("bash", "-c", "sacctmgr -i modify user nobody set adminlevel=operator")
    pk, _ = planned(stack, "order")
    stack.manage(APPROVE.format(pk=pk))
    assert reached(stack, pk, "applied", "undone")[0] == "applied"
    stack.manage(UNDO.format(pk=pk))
    reached(stack, pk, "undone")
    assert untouched(cluster)


def test_killed_at_any_moment_the_cluster_is_as_it_was_or_as_planned(cluster, stack, acting):
    dice = random.Random(7)
    made = "select count(*) from twin_journalentry where proposal_id = ? and state <> 'planned'"
    outcomes = []
    for _ in range(KILLS):
        pk, rows = planned(stack, "order")
        stack.manage(APPROVE.format(pk=pk))
        sent = dice.randint(0, len(rows))
        wait_until(lambda pk=pk, sent=sent: stack.sql(made, pk)[0][0] >= sent, "so many changes are made")
        for process in acting.children():
            process.kill()
        status = reached(stack, pk, "applied", "undone")[0]
        outcomes.append(status)
        if status == "undone":
            assert untouched(cluster)
            continue
        assert {key: nice for key, (nice, _) in queue(cluster).items() if nice} == {key: n for key, _, n in rows}
        stack.manage(UNDO.format(pk=pk))
        reached(stack, pk, "undone")
        assert untouched(cluster)
    assert set(outcomes) <= {"applied", "undone"}
