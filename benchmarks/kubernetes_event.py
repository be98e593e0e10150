"""Time from a change of a pod to a pixel: a real API server, whose watches the twin follows.

Each change is timed from the start of the request that makes it to the animation frame that draws the job. This process
plays scheduler and kubelet, so that the moments are known.
"""

from __future__ import annotations

import http.client
import itertools
import os
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import orjson

from benchmarks import Figure, Skip
from benchmarks._pixels import ENDED, STARTED, SUBMITTED, delays, figures, load_figure, watched

TITLE = "change of a pod to pixel, Kubernetes"
SAMPLES, WAITING = 120, 100
PAUSE_S = 0.37  # between two changes; no multiple of a frame or a second
P50_S, P99_S = 0.1, 0.4
PROGRAMS = ("etcd", "curl", "xz", "openssl")
PODS = "/api/v1/namespaces/default/pods"


class Kubernetes:
    """A control plane that `kube-cluster` of TWIN_SHARED starts."""

    def __init__(self, folder: Path) -> None:
        shared = os.environ.get("TWIN_SHARED", "")
        self.script = Path(shared) / "kubernetes" / "kube-cluster"
        if not shared or not self.script.is_file():
            raise Skip("set TWIN_SHARED to a folder whose kubernetes/kube-cluster starts an API server")
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            raise Skip(f"{', '.join(missing)} missing (Debian: apt-get install etcd-server curl xz-utils openssl)")
        self.folder = folder
        folder.mkdir()

    def start(self) -> None:
        """Start of the server, and end of its stand-in for kubelets."""
        env = os.environ | {"KUBE_BASE_PORT": str(_free_ports())}
        with (self.folder / "start.log").open("wb") as log:
            command = [str(self.script), "start", str(self.folder), "4"]
            done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=log, timeout=180)
        if done.returncode:
            raise RuntimeError(f"Kubernetes did not start: {(self.folder / 'start.log').read_text()}")
        settings = dict(part.split("=", 1) for part in done.stdout.decode().split()[1:])
        os.kill(int((self.folder / "kubelets.pid").read_text()), signal.SIGTERM)
        (self.folder / "admin.token").chmod(0o600)
        self.parameters = {"url": settings["KUBE_URL"], "ca_file": settings["KUBE_CA"]}
        self.parameters["token_from"] = str(self.folder / "admin.token")
        self.token = settings["KUBE_TOKEN"]
        tls = ssl.create_default_context(cafile=settings["KUBE_CA"])
        self.connection = http.client.HTTPSConnection(settings["KUBE_URL"].removeprefix("https://"), context=tls)

    def stop(self) -> None:
        """End of all processes."""
        subprocess.run([self.script, "stop", self.folder], timeout=60, check=True)

    def ask(self, method: str, path: str, body: Any) -> float:
        """Request to the API server; the Unix ms at which it began."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        began = time.time() * 1_000
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": kind}
        self.connection.request(method, path, orjson.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text.decode()[:300]}")
        return began


def run() -> list[Figure]:
    """Figures of pods created one after the other, while others wait."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as name:
        cluster = Kubernetes(Path(name) / "kubernetes")
        try:
            cluster.start()
            for number in range(WAITING):
                cluster.ask("POST", PODS, _pod(f"waits-{number}"))
            with watched(Path(name) / "twin", "kubernetes", cluster.parameters, WAITING) as page:
                began = _changes(cluster)
                page.wait(ENDED, SAMPLES)
                drawn = page.drawn()
        finally:
            cluster.stop()
    names = {SUBMITTED: "created", STARTED: "bound and running", ENDED: "succeeded"}
    return [
        figure
        for what, name in names.items()
        for figure in figures(f"pod {name} to pixel", delays(began[what], drawn[what]), P50_S, P99_S)
    ] + [load_figure()]


def _changes(cluster: Kubernetes) -> dict[str, dict[str, float]]:
    """{what: {job: Unix ms at which the request began}}."""
    began: dict[str, dict[str, float]] = {SUBMITTED: {}, STARTED: {}, ENDED: {}}
    for number in range(SAMPLES):
        name = f"bench-{number}"
        job, path = f"default/pod/{name}", f"{PODS}/{name}"
        began[SUBMITTED][job] = cluster.ask("POST", PODS, _pod(name))
        time.sleep(PAUSE_S)
        target = {"apiVersion": "v1", "kind": "Node", "name": f"node{1 + number % 4}"}
        began[STARTED][job] = cluster.ask("POST", f"{path}/binding", {"metadata": {"name": name}, "target": target})
        cluster.ask("PATCH", f"{path}/status", _status("Running", {"running": {"startedAt": _stamp()}}))
        time.sleep(PAUSE_S)
        ended = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": _stamp(), "finishedAt": _stamp()}}
        began[ENDED][job] = cluster.ask("PATCH", f"{path}/status", _status("Succeeded", ended))
        time.sleep(PAUSE_S)
    return began


def _pod(name: str) -> dict[str, Any]:
    limits = {"nvidia.com/gpu": "1", "cpu": "1", "memory": "1Gi"}
    container = {"name": "c", "image": "x", "resources": {"limits": limits}}
    spec = {"containers": [container], "restartPolicy": "Never", "schedulerName": "bench"}
    return {"metadata": {"name": name}, "spec": spec}


def _status(phase: str, state: dict[str, Any]) -> dict[str, Any]:
    container = {"name": "c", "image": "x", "imageID": "x", "ready": False, "restartCount": 0, "state": state}
    return {"status": {"phase": phase, "startTime": _stamp(), "containerStatuses": [container]}}


def _stamp() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _free_ports() -> int:
    """The first of three ports in a row on which nothing listens."""
    for first in itertools.count(17_600, 3):
        try:
            for port in range(first, first + 3):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError
