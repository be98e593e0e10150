"""Rendering of the Helm chart of deploy/helm by Helm itself: the program, or its library in a Python package."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

CHART = Path(__file__).resolve().parents[1] / "deploy" / "helm"
EXTERNAL = {"secret": {"existing": "twin"}, "hosts": ["twin.example", "twin.test"]}
OWN = {"secret": {"values": {"SECRET_KEY": "k", "DATABASE_URL": "postgres://d", "BROKER_URL": "redis://b"}}}
RICH = EXTERNAL | {
    "uploads": {"existingClaim": "shared"},
    "image": {"tag": "1.2", "pullSecrets": [{"name": "registry"}]},
    "ingress": {"className": "nginx", "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "512m"}},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "edge", "operator": "Exists"}],
    "processes": {"runs": {"replicas": 5}},
}


class RenderError(Exception):
    """Error: Helm refuses the values."""


def rendered(values: dict[str, Any], tmp_path: Path) -> list[dict[str, Any]]:
    """The objects of the chart with these values; skips where Helm is not installed."""
    if program := shutil.which("helm"):
        (tmp_path / "values.yaml").write_text(yaml.safe_dump(values))
        command = [program, "template", "twin", CHART, "-f", tmp_path / "values.yaml"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RenderError(done.stderr)
        texts = [done.stdout]
    else:
        library = pytest.importorskip(
            "helm_python", reason="neither helm is on PATH nor the package helm-python-sdk installed"
        )
        try:
            texts = list(library.Chart.load(CHART).render(values, name="twin", namespace="default").values())
        except (library.HelmRenderError, library.HelmValuesError) as error:
            raise RenderError(str(error)) from error
    return [one for text in texts for one in yaml.safe_load_all(text) if one]
