"""The twin follows a real Kubernetes while its processes and the API server are killed again and again.

At the end the mirror is the API server's own list, pod by pod: creation, binding, end, node and outcome. A pod that was
deleted is in no list any more: in the mirror it has ended, once. Where a scheduler whose answer was lost bound a pod
again, the list no longer has the time of the binding: it lies between the creation and the start; the mirror saw it.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
import pytest

from tests.live import drift
from tests.live.kubernetes.builders import PODS, ms, placed_ms
from tests.live.kubernetes.cluster import cluster_for_tests, until
from tests.twin.runtime.stack import ROOT, Stack, wait_until

pytestmark = pytest.mark.slow
COUNT, KILLS = (int(os.environ.get(f"TWIN_MIRROR_{name}", default)) for name, default in (("PODS", 40), ("KILLS", 4)))
MAX_WAIT_S = 120 + COUNT
MAX_OPEN = 60  # pods that have not ended
SEED = 7
API = "API server"
VICTIMS = (API, "manage.py follower", "uvicorn", "-Q runs")
OPEN = "status.phase%21%3DSucceeded,status.phase%21%3DFailed"  # the API server sends these pods only
OUTCOMES = {"Succeeded": "completed", "Failed": "failed"}
MIRRORED = """
import json
from twin.mirror import stored
from twin.models import Run
print(json.dumps([
    [job.fact.key, job.fact.submitted_ms, job.fact.state, job.fact.outcome,
     [[a.started_ms, a.ended_ms, [s.node for s in a.shares]] for a in job.attempts]]
    for run in Run.objects.filter(mode="mirror").order_by("pk") for job in stored.load_run(run).jobs
]))
"""
NEWEST = """
import json
from twin.mirror import stored
from twin.models import Run
print(json.dumps([job.fact.key for job in stored.load_run(Run.objects.filter(mode="mirror").latest("pk")).jobs]))
"""


@pytest.fixture
def cluster(tmp_path_factory):
    """With so many nodes that many pods do not wait for a minute: the scheduler looks at those again rarely."""
    yield from cluster_for_tests(tmp_path_factory.mktemp("kubernetes"), nodes=max(4, min(24, COUNT // 40)))


@pytest.fixture
def stack(cluster):
    with tempfile.TemporaryDirectory(prefix="twin-pods-") as folder:
        twin = Stack(Path(folder)).up()
        try:
            given = [f"{name}={value}" for name, value in cluster.parameters().items()]
            command = [sys.executable, str(ROOT / "manage.py"), "connect", "kubernetes", "--name", "lab"]
            command += [part for one in given for part in ("--param", one)]
            done = subprocess.run(command, env=twin.env, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stdout + done.stderr
            yield twin
        finally:
            twin.down()


def mirrored(stack):
    """{name of a pod: [submit time, state, outcome, attempts]}; one open where a run ends is in the next too."""
    found = {}
    for key, *job in orjson.loads(stack.manage(MIRRORED)):
        name = key.removeprefix("default/pod/")
        assert name not in found or found[name][1] != "ended", f"{name} has ended in two runs"
        found[name] = job
    return found


def listed(cluster):
    """{name of a pod: the same by the API server, with the earliest and the latest start}; without open pods."""
    found = {}
    for pod in cluster.ask(PODS)["items"]:
        if outcome := OUTCOMES.get(pod["status"]["phase"]):
            ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
            created, placed = ms(pod["metadata"]["creationTimestamp"]), placed_ms(pod)
            attempt = [(placed if is_bound(pod) else created, placed), ms(ended), [pod["spec"]["nodeName"]]]
            found[pod["metadata"]["name"]] = [created, "ended", outcome, [attempt]]
    return found


def is_bound(pod):
    """Whether the API server states when the pod was bound."""
    return any((c["type"], c["status"]) == ("PodScheduled", "True") for c in pod["status"]["conditions"])


def differing(found, truth):
    """{name: (mirrored, listed)} of the listed pods that the mirror has otherwise."""

    def same(job, pod):
        if job is None or len(job[3]) != 1 or [*job[:3], job[3][0][1:]] != [*pod[:3], pod[3][0][1:]]:
            return False
        earliest, latest = pod[3][0][0]
        return earliest <= job[3][0][0] <= latest

    return {name: (found.get(name), pod) for name, pod in truth.items() if not same(found.get(name), pod)}


def killed(cluster, stack, victim):
    """Kills one process with SIGKILL; the API server is back when this returns, others are replaced by the stack."""
    if victim == API:
        cluster.kill()
        cluster.start()
        until(lambda: cluster.answers("/version"), "the API server is back")
        return
    wait_until(lambda: stack.processes(victim), f"{victim} runs")
    process = stack.processes(victim)[0]
    process.kill()
    process.wait(30)


def test_the_mirror_is_the_list_of_the_api_server_though_processes_are_killed(cluster, stack):
    dice = random.Random(SEED)
    kills = dict(zip(sorted(dice.sample(range(5, COUNT * 9 // 10), KILLS)), [*VICTIMS] * KILLS, strict=False))
    names, deleted = [f"{cluster.name('kill')}-{i}" for i in range(COUNT)], set()

    def open_pods():
        return len(cluster.ask(f"{PODS}?fieldSelector={OPEN}")["items"])

    for i, name in enumerate(names):
        if i % 10 == 0:
            until(lambda: open_pods() < MAX_OPEN, "few pods are open", MAX_WAIT_S)
        cluster.pod(name, gpus=dice.choice((1, 1, 2, 4)), seconds=dice.choice((0, 1, 2)))
        if dice.random() < 0.1:
            deleted.add(victim := dice.choice(names[: i + 1]))
            if cluster.answers(f"{PODS}/{victim}"):
                cluster.delete(f"{PODS}/{victim}")
        if i in kills:
            killed(cluster, stack, kills[i])
            print(f"{i + 1} pods, {kills[i]} killed", flush=True)
    until(lambda: not open_pods(), "every pod has ended", MAX_WAIT_S)
    truth = listed(cluster)
    assert truth.keys() == {*names} - deleted
    try:
        wait_until(lambda: not differing(mirrored(stack), truth), "the mirror is the list", MAX_WAIT_S)
    finally:
        found = mirrored(stack)
        wrong = differing(found, truth)
        print(f"{len(truth)} pods are listed, {len(wrong)} differ: {json.dumps(dict(list(wrong.items())[:5]))}")
    others = found.keys() - truth.keys()
    assert others <= deleted
    assert {found[name][1] for name in others} <= {"ended"}
    newest = {key.removeprefix("default/pod/") for key in orjson.loads(stack.manage(NEWEST))}
    assert drift.settled(stack, len(truth.keys() & newest), MAX_WAIT_S) == ("", [])  # an audit is about one run
