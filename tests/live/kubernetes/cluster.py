"""A real Kubernetes control plane of ../shared/kubernetes, for tests; skips in one line without it or its packages."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("TWIN_SHARED", Path(__file__).resolve().parents[4] / "shared"))
SCRIPT = SHARED / "kubernetes" / "kube-cluster"
PROGRAMS = ("etcd", "curl", "xz", "openssl")  # Debian: etcd-server curl xz-utils openssl
MAX_WAIT_S = 60
STARTS = 3


class Cluster:
    """An API server, a scheduler, and stand-ins for kubelets; `kill` and `start` work on the API server alone."""

    def __init__(self, folder: Path, nodes: int = 4, compact: str = "5m") -> None:
        if not SCRIPT.exists():
            pytest.skip(f"the real Kubernetes is not at {SCRIPT.parent}")
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            pytest.skip(f"the real Kubernetes needs {', '.join(missing)} (Debian: etcd-server curl xz-utils openssl)")
        self.folder, self.nodes = folder, nodes
        self._environment = {**os.environ, "KUBE_BASE_PORT": str(_free_ports()), "KUBE_COMPACT": compact}
        self._names = itertools.count()
        try:
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self) -> None:
        """Starts what does not run; the objects of an earlier start are there again."""
        for _ in range(STARTS):  # the script waits for a minute, and goes on with what runs when it is called again
            with open(self.folder / "start.log", "ab") as log:
                command = [SCRIPT, "start", self.folder, str(self.nodes)]
                done = subprocess.run(command, env=self._environment, stdout=subprocess.PIPE, stderr=log, timeout=180)
            if done.returncode == 0:
                break
        assert done.returncode == 0, (self.folder / "start.log").read_text()
        variables = dict(part.split("=", 1) for part in done.stdout.decode().split()[1:])
        self.url, self.ca, self.token, self.reader = (
            variables[f"KUBE_{name}"] for name in ("URL", "CA", "TOKEN", "READER")
        )
        self._tls = ssl.create_default_context(cafile=self.ca)
        for name in ("admin", "reader"):
            (self.folder / f"{name}.token").chmod(0o600)

    def stop(self) -> None:
        """Ends all of it."""
        subprocess.run([SCRIPT, "stop", self.folder], env=self._environment, timeout=60, check=True)

    def signal(self, process: str, number: int) -> None:
        """Sends a signal to api, scheduler, kubelets or etcd."""
        os.kill(int((self.folder / f"{process}.pid").read_text()), number)

    def kill(self) -> None:
        """kill -9 of the API server."""
        self.signal("api", signal.SIGKILL)

    def parameters(self, **given: Any) -> dict[str, Any]:
        """Parameters of a connector with an administrator's token."""
        token = str(self.folder / "admin.token")
        # the machine may be busy
        return {"url": self.url, "ca_file": self.ca, "token_from": token, "timeout_s": 20, **given}

    def ask(self, path: str, method: str = "GET", body: Any = None, token: str = "") -> Any:
        """The API server's answer to the administrator, or to whom a token belongs."""
        request = urllib.request.Request(
            self.url + path, None if body is None else json.dumps(body).encode(), method=method
        )
        request.add_header("Authorization", f"Bearer {token or self.token}")
        request.add_header("Content-Type", "application/merge-patch+json" if method == "PATCH" else "application/json")
        try:
            with urllib.request.urlopen(request, context=self._tls, timeout=MAX_WAIT_S) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()[:500]}") from error

    def name(self, of: str) -> str:
        """A name that no other test uses."""
        return f"{of}-{next(self._names)}"

    def pod(self, name: str, *, gpus: int = 1, seconds: float = 600, owner: Any = None, **spec: Any) -> Any:
        """Creates a pod; its stand-in for a kubelet lets it run for so many seconds once it is bound."""
        resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}}
        meta: dict[str, Any] = {"name": name, "annotations": {"twin/seconds": str(seconds)}}
        if owner is not None:
            meta["ownerReferences"] = [reference(owner)]
        container = {"name": "c", "image": "x", "resources": resources}
        body = {"metadata": meta, "spec": {"containers": [container], "restartPolicy": "Never", **spec}}
        return self.ask("/api/v1/namespaces/default/pods", "POST", body)

    def job(self, name: str, *, pods: int = 1, gpus: int = 1, group: str = "batch/v1", **spec: Any) -> Any:
        """Creates a Job; nothing makes pods of it by itself."""
        container = {
            "name": "c",
            "image": "x",
            "resources": {"limits": {"nvidia.com/gpu": str(gpus), "cpu": "1", "memory": "1Gi"}},
        }
        template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
        body = {
            "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "template": template, **spec},
        }
        return self.ask(f"/apis/{group}/namespaces/default/jobs", "POST", body)

    def delete(self, path: str, grace: int = 0) -> None:
        """Deletes an object at once, leaving what it owns."""
        self.ask(path, "DELETE", {"gracePeriodSeconds": grace, "propagationPolicy": "Background"})

    def define(self, group: str, version: str, kind: str, plural: str) -> None:
        """Installs a kind of objects with any fields, and waits until it is served."""
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        served = {"name": version, "served": True, "storage": True, "schema": schema}
        names = {"kind": kind, "plural": plural, "singular": kind.lower()}
        spec = {"group": group, "scope": "Namespaced", "names": names, "versions": [served]}
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        self.ask(crds, "POST", {"metadata": {"name": f"{plural}.{group}"}, "spec": spec})
        path = f"/apis/{group}/{version}/namespaces/default/{plural}"
        until(lambda: self.answers(path), f"{plural} are served")

    def answers(self, path: str) -> bool:
        """Whether the API server has something at that path."""
        try:
            self.ask(path)
        except (AssertionError, OSError):
            return False
        return True


def reference(owner: Any) -> dict[str, Any]:
    """A reference to the object that manages another."""
    meta = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }


def until(holds: Callable[[], Any], what: str, seconds: float = MAX_WAIT_S) -> Any:
    """Asks again and again until the answer is true."""
    end, pause = time.monotonic() + seconds, 0.02
    while not (answer := holds()):
        assert time.monotonic() < end, f"not within {seconds} s: {what}"
        time.sleep(pause)  # longer each time: every question is a request to the API server
        pause = min(1.3 * pause, 0.2)
    return answer


def cluster_for_tests(folder: Path, **given: Any) -> Iterator[Cluster]:
    """A cluster as long as a fixture lives."""
    cluster = Cluster(folder, **given)
    try:
        yield cluster
    finally:
        cluster.stop()


def _free_ports() -> int:
    """The first of three ports in a row on which nothing listens."""
    for first in range(17_600, 18_600, 3):
        try:
            for port in range(first, first + 3):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise AssertionError("no three free ports between 17600 and 18600")
