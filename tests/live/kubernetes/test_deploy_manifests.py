"""The files of deploy/ for Kubernetes, taken by a real API server in a dry run."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
import yaml

from tests.helm_chart import CHART, EXTERNAL, OWN, RICH, rendered

PATHS = {
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "Service": "/api/v1/namespaces/default/services",
    "Secret": "/api/v1/namespaces/default/secrets",
    "PersistentVolumeClaim": "/api/v1/namespaces/default/persistentvolumeclaims",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
}
DRY = "?dryRun=All&fieldValidation=Strict"


def taken(cluster: Any, objects: list[dict[str, Any]]) -> int:
    """Number of objects that the API server would create; an object with an unknown or wrong field fails."""
    for one in objects:
        made = cluster.ask(PATHS[one["kind"]] + DRY, "POST", one)
        assert made["metadata"]["name"] == one["metadata"]["name"]
        assert made["metadata"]["uid"]
    return len(objects)


@pytest.mark.thorough
def test_the_check_finds_what_is_wrong(cluster):
    """A type, a value, and a selector that does not select its own pods."""
    text = (CHART.parent / "kubernetes" / "twin.yaml").read_text()
    for old, new in (
        ("replicas: 2", "replicas: many"),
        ("path: /, pathType: Prefix", "path: /, pathType: Begins"),
        ("labels: {app: twin, role: runs}}\n    spec", "labels: {app: twin, role: walks}}\n    spec"),
    ):
        assert old in text
        with pytest.raises(AssertionError, match=r": (400|422) "):
            taken(cluster, list(yaml.safe_load_all(text.replace(old, new))))


def test_the_kustomization_is_taken(cluster):
    program = shutil.which("kubectl") or pytest.skip("kubectl, which renders the kustomization, is not on PATH")
    folder = CHART.parent / "kubernetes"
    done = subprocess.run([program, "kustomize", folder], capture_output=True, text=True, timeout=120)
    if done.returncode and "unknown command" in done.stderr:
        pytest.skip("this kubectl cannot render a kustomization")
    assert done.returncode == 0, done.stderr
    objects = list(yaml.safe_load_all(done.stdout))
    images = {
        container["image"]
        for one in objects
        if one["kind"] == "Deployment"
        for container in one["spec"]["template"]["spec"]["containers"]
    }
    assert images == {"registry.example/edge-cloud-twin:latest"}
    assert taken(cluster, objects) == 9
    assert taken(cluster, [yaml.safe_load((folder / "secret.example.yaml").read_text())]) == 1


@pytest.mark.parametrize(("values", "count"), [(EXTERNAL, 9), (OWN, 9), (RICH, 8)], ids=["external", "own", "rich"])
def test_the_chart_is_taken(cluster, values, count, tmp_path):
    assert taken(cluster, rendered(values, tmp_path)) == count
