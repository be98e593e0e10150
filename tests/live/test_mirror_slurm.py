"""The twin follows a real Slurm while its processes are killed again and again; the mirror ends as sacct says.

Victims are the follower, the web server, the worker and slurmctld, at random moments. slurmctld is killed when it has
saved its state. What happens between its save and its death it forgets: jobs start again under their numbers, a node
that still runs one drains for a duplicate job, and a job whose end it forgets runs until nodes register again. The test
mends that as an operator does.

What slurmctld had not yet sent to the accounting when it was killed is not accounted. Those jobs are counted, and the
others are compared, attempt by attempt. Where the start of a second attempt was not sent, the accounting joins the
start of the first one to the end of the second one; slurmctld's log shows both starts, and the mirror must have the
second.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import orjson
import pytest

from tests.live import drift
from tests.live.slurm_cluster import Cluster, has_database, missing
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not has_database(), reason="no accounting: slurmdbd or a MariaDB without a password is missing"),
]
JOBS, KILLS = (int(os.environ.get(f"TWIN_MIRROR_{name}", default)) for name, default in (("JOBS", 30), ("KILLS", 4)))
MAX_WAIT_S = 120 + JOBS
MAX_OPEN = 100  # jobs that are open at a time, tasks of waiting arrays counted once
SEED = 5
PORT = int(os.environ.get("TWIN_MIRROR_PORT", 28_700))
SCHEDULING = """
MaxJobCount=20000
SchedulerParameters=bf_interval=2,batch_sched_delay=0,sched_min_interval=0
"""  # else Slurm starts 4 jobs a second
MAX_RUN_S = 30  # a job that runs longer has ended, which slurmctld has forgotten
STARTED = re.compile(
    r"\[(\S+)\] (?:sched: Allocate|sched/backfill: _start_job: Started) JobId=([\d_]+)\S* (?:in \S+ on |NodeList=)(\S+)"
)
AGAIN = ("REQUEUED", "NODE_FAIL")  # states of attempts after which a job is queued again; squeue tells no difference
OUTCOMES = {"COMPLETED": "completed", "FAILED": "failed", "NODE_FAIL": "node_fail", "CANCELLED": "cancelled"}
CONTROLLER = "slurmctld"
VICTIMS = ("manage.py follower", "uvicorn", "-Q runs", CONTROLLER)
MIRRORED = """
import json
from twin.mirror import stored
from twin.models import Run
found = {}
for run in Run.objects.filter(mode="mirror").order_by("pk"):  # the newest that has a job knows the most about it
    for job in stored.load_run(run).jobs:
        times = job.fact.submit_times
        for before in [one for one in found if one[0] == job.fact.key and not {*one[1]}.isdisjoint(times)]:
            del found[before]
        found[job.fact.key, times] = [
            job.fact.key, job.fact.outcome,
            sorted([a.started_ms, a.ended_ms, sorted(s.node for s in a.shares)] for a in job.attempts),
        ]
print(json.dumps(list(found.values())))
"""
LOG = """
from twin.eventlog import event_log
from twin.models import Run
whole = True
for run in Run.objects.filter(mode="mirror"):
    seqs = [event.seq for batch in event_log.after(run.pk, 0) for event in batch]
    whole = whole and seqs == list(range(1, len(seqs) + 1))
print(whole)
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("slurm"), PORT, SCHEDULING, accounting=True)
    cluster.start()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def stack(cluster):
    with tempfile.TemporaryDirectory(prefix="twin-mirror-") as folder:
        twin = Stack(Path(folder), PATH=cluster.environment["PATH"]).up()
        yield twin
        twin.down()


def manage(stack, *argv):
    command = [sys.executable, str(ROOT / "manage.py"), *argv]
    return subprocess.run(command, env=stack.env, capture_output=True, text=True, timeout=120)


def events(stack):
    """How many the log of the mirror has."""
    return stack.sql("select coalesce(sum(last_seq), 0) from twin_run where mode = 'mirror'")[0][0]


def accounted(cluster):
    """{key: [[start ms, end ms, nodes, outcome] of each attempt]}; (key, start) of what a killed controller forgot.

    A record without a partition or without nodes is of an end whose start slurmctld has not sent: its job is not
    accounted, and it may have the key of another one.
    """
    found, forgotten, incomplete = {}, set(), set()
    columns = "JobID,Start,End,State,NodeList,Partition"
    rows = cluster.run("sacct", "-D", "-X", "-n", "-P", "-S", "now-6hours", "-o", columns)
    for row in rows.splitlines():
        key, start, end, state, nodes, partition = row.split("|")
        if not partition or (nodes == "None assigned" and state not in ("PENDING", "RUNNING")):
            incomplete.add(key)
        elif start.isdigit() and end.isdigit():
            outcome = "again" if state in AGAIN else OUTCOMES[state.split()[0]]
            found.setdefault(key, []).append([int(start) * 1000, int(end) * 1000, [nodes], outcome])
        elif start.isdigit():
            forgotten.add((key, int(start) * 1000))
    return {key: sorted(attempts) for key, attempts in found.items() if key not in incomplete}, forgotten


def is_sent(cluster):
    """Whether slurmctld has nothing left to send to the accounting."""
    return "DBD Agent queue size: 0" in " ".join(cluster.run("sdiag").split())


def logged_starts(cluster):
    """{key: [(whole second, node) of each start, in order]} by slurmctld's own log."""
    found = {}
    for line in (cluster.folder / "slurmctld.log").read_text(errors="replace").splitlines():
        if started := STARTED.match(line):
            moment, key, node = started.groups()
            found.setdefault(key, []).append((int(datetime.fromisoformat(moment).timestamp()), node))
    return found


def is_joined(mirror, accounted, starts):
    """Whether the accounting has the first start of a job with the end of its last attempt, which the mirror has.

    Each is a single attempt. Slurm takes the second of a start a moment before it logs it.
    """
    if len(mirror or ()) != 1 or len(accounted or ()) != 1 or len(starts) < 2:
        return False
    (start, end, nodes, outcome), (joined, last, _, how) = mirror[0], accounted[0]
    second, node = starts[-1]
    same = nodes == [node] and start // 1000 in (second - 1, second)
    return same and (end, outcome) == (last, how) and joined < start


def total(attempts):
    return sum(map(len, attempts.values()))


def comparison(cluster, stack):
    """(accounted attempts by key, what slurmctld forgot, {key: (mirrored, accounted)} where they differ)."""
    truth, forgotten = accounted(cluster)
    known = truth.keys() | {key for key, _ in forgotten}
    found = {}
    for key, outcome, attempts in mirrored(stack):
        outcomes = ["again"] * (len(attempts) - 1) + [outcome]
        for attempt, how in zip(attempts, outcomes, strict=False):
            if key in known and (key, attempt[0]) not in forgotten:
                found.setdefault(key, []).append([*attempt, how])
    found = {key: sorted(attempts) for key, attempts in found.items()}
    wrong = {key: (found.get(key), truth.get(key)) for key in {*found, *truth} if found.get(key) != truth.get(key)}
    starts = logged_starts(cluster) if wrong else {}
    joined = {key for key, both in wrong.items() if is_joined(*both, starts.get(key, []))}
    forgotten |= {(key, truth[key][0][0]) for key in joined}
    return truth, forgotten, {key: both for key, both in wrong.items() if key not in joined}


def mirrored(stack):
    """[key, outcome, [start ms, end ms, nodes] of each attempt] of each job of the mirror."""
    return orjson.loads(stack.manage(MIRRORED))


def answer(cluster, *argv):
    """What a command prints, whether or not it fails."""
    return subprocess.run(argv, env=cluster.environment, capture_output=True, text=True, timeout=60).stdout


def killed(cluster, stack, victim):
    """Kills one process with SIGKILL; it is back, or another one in its place, when this returns."""
    if victim == CONTROLLER:  # a job of which it forgets would collide on its node with the next one of that number
        state, newest = cluster.folder / "state" / "job_state", time.time()
        wait_until(lambda: state.exists() and state.stat().st_mtime > newest, "the state is saved")
        cluster.kill("slurmctld")
        cluster.run("slurmctld", "-f", str(cluster.conf))
        wait_until(lambda: "UP" in answer(cluster, "scontrol", "ping"), "slurmctld is back")
        return
    wait_until(lambda: stack.processes(victim), f"{victim} runs")
    process = stack.processes(victim)[0]
    process.kill()
    process.wait(30)


def repaired(cluster):
    """Gives drained nodes back and releases jobs that are held or must wait until a time.

    Where a job seems to run for too long, nodes register again.
    """
    cluster.resume()
    rows = [row.split("|") for row in answer(cluster, "squeue", "-h", "-o", "%i|%t|%r|%M").splitlines()]
    for key, _, reason, _ in rows:
        if "held" in reason:
            answer(cluster, "scontrol", "release", key)
        if reason == "BeginTime":  # slurmctld lost it while it started, and lets it wait for two minutes
            answer(cluster, "scontrol", "update", f"jobid={key}", "starttime=now")
    if any(state == "R" and seconds(used) > MAX_RUN_S for _, state, _, used in rows):
        answer(cluster, "scontrol", "reconfigure")


def seconds(used):
    """`1:05` is 65."""
    return sum(int(part) * 60**place for place, part in enumerate(reversed(used.replace("-", ":").split(":"))))


def submitted(cluster, dice, most):
    """Submits a job, or an array; their keys."""
    if not most:
        return []
    tasks = min(most, dice.choice((1, 1, 1, 2, 5, 10))) if JOBS >= 100 else 1
    ends = dice.choice(("", "", "; exit 3"))
    seconds = dice.uniform(0.2, 4 if JOBS < 100 else 0.4)
    array = [f"--array=1-{tasks}"] if tasks > 1 else []
    number = cluster.sbatch(f"--gres=gpu:{dice.randint(1, 3)}", *array, wrap=f"sleep {seconds:.1f}{ends}")
    return [f"{number}_{task}" for task in range(1, tasks + 1)] if array else [number]


def test_the_mirror_is_what_the_accounting_says_though_processes_are_killed(cluster, stack):
    connected = manage(
        stack, "connect", "slurm", "--name", "lab", "--param", f"conf={cluster.conf}", "--param", "interval_ms=500"
    )
    assert connected.returncode == 0, connected.stdout + connected.stderr
    dice = random.Random(SEED)
    kills = sorted(dice.sample(range(5, JOBS * 9 // 10), KILLS))
    victims = [*VICTIMS, *dice.choices(VICTIMS, k=KILLS)][:KILLS]
    keys = []

    def few_open():
        repaired(cluster)
        return len(cluster.run("squeue", "-h").splitlines()) < MAX_OPEN

    while len(keys) < JOBS:
        keys += submitted(cluster, dice, JOBS - len(keys))
        if len(keys) % 10 == 0:
            wait_until(few_open, "the queue is short", MAX_WAIT_S)
        while kills and kills[0] < len(keys):
            grown, moment = events(stack), time.monotonic() + dice.uniform(0, 2)
            keys += submitted(cluster, dice, JOBS - len(keys))
            wait_until(lambda before=grown: events(stack) > before, "the follower writes")
            wait_until(lambda then=moment: time.monotonic() > then, "a random moment")
            keys += submitted(cluster, dice, JOBS - len(keys))  # something to save
            killed(cluster, stack, victims[len(kills) - 1])
            print(f"{len(keys)} jobs, {victims[len(kills) - 1]} killed", flush=True)
            del kills[0]

    def all_ended():
        repaired(cluster)
        return not cluster.run("squeue", "-h").strip()

    wait_until(all_ended, "every job has ended", MAX_WAIT_S)
    wait_until(lambda: all(outcome for _, outcome, _ in mirrored(stack)), "every end is in the mirror", MAX_WAIT_S)
    wait_until(lambda: is_sent(cluster), "every end is accounted", MAX_WAIT_S)
    try:
        wait_until(lambda: not comparison(cluster, stack)[2], "the mirror is what the accounting says", MAX_WAIT_S)
    finally:
        truth, forgotten, wrong = comparison(cluster, stack)
        for key, (mirror, sacct) in sorted(wrong.items()):
            print(f"{key}: mirror {mirror}, sacct {sacct}")
    lost = {*keys} - truth.keys() - {key for key, _ in forgotten}
    print(
        f"{len(keys)} jobs; {total(truth)} attempts of {len(truth)} jobs are accounted and the same in the mirror; "
        f"slurmctld lost {len(lost)} jobs and {len(forgotten)} ends"
    )
    assert not wrong
    assert len(lost) + len(forgotten) <= max(2, JOBS // 50)
    assert stack.manage(LOG).strip() == "True"
    compared = len(truth) if JOBS < 100 else JOBS // 10  # the newest run may not have all
    # The accounting is compared after some seconds.
    assert drift.settled(stack, compared, MAX_WAIT_S) == ("", [])
