"""The Helm chart: what Helm makes of it is what deploy/kubernetes has, and wrong values are refused in words."""

from __future__ import annotations

import pytest
import yaml

from tests.helm_chart import CHART, EXTERNAL, OWN, RICH, RenderError, rendered

PROCESSES = {"web", "runs", "long", "background", "ticker", "follower"}


def by_kind(objects: list[dict]) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for one in objects:
        found.setdefault(one["kind"], []).append(one)
    return found


def test_the_chart_runs_every_process_as_the_manifests_do(tmp_path):
    found = by_kind(rendered(EXTERNAL, tmp_path))
    assert {kind: len(objects) for kind, objects in found.items()} == {
        "Deployment": 6, "Service": 1, "Ingress": 1, "PersistentVolumeClaim": 1,
    }  # fmt: skip
    plain = yaml.safe_load_all((CHART.parent / "kubernetes" / "twin.yaml").read_text())
    manifests = {one["metadata"]["labels"]["role"]: one for one in plain if one["kind"] == "Deployment"}
    pods = {one["spec"]["template"]["spec"]["containers"][0]["name"]: one for one in found["Deployment"]}
    assert pods.keys() == manifests.keys() == PROCESSES
    for name, one in pods.items():
        ours, theirs = (part["spec"]["template"]["spec"] for part in (one, manifests[name]))
        assert ours["securityContext"] == theirs["securityContext"]
        for key in ("args", "securityContext", "volumeMounts", "ports"):
            assert ours["containers"][0].get(key) == theirs["containers"][0].get(key), (name, key)
        assert one["spec"].get("strategy") == manifests[name]["spec"].get("strategy")
        assert one["spec"]["selector"]["matchLabels"].items() <= one["spec"]["template"]["metadata"]["labels"].items()
    env = {one["name"]: one.get("value") for one in pods["web"]["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert env["ALLOWED_HOSTS"] == "twin.example,twin.test,localhost"
    assert env["CSRF_TRUSTED_ORIGINS"] == "https://twin.example,https://twin.test"
    assert (env["HTTPS"], env["LOG_FORMAT"]) == ("true", "json")


def test_values_change_what_they_say(tmp_path):
    found = by_kind(rendered(RICH, tmp_path))
    assert "PersistentVolumeClaim" not in found
    assert found["Ingress"][0]["spec"]["ingressClassName"] == "nginx"
    runs = next(one for one in found["Deployment"] if one["metadata"]["name"] == "twin-runs")
    pod = runs["spec"]["template"]["spec"]
    assert (runs["spec"]["replicas"], pod["containers"][0]["image"]) == (5, "registry.example/edge-cloud-twin:1.2")
    assert pod["volumes"][1]["persistentVolumeClaim"]["claimName"] == "shared"
    assert (pod["nodeSelector"], pod["imagePullSecrets"]) == ({"kubernetes.io/os": "linux"}, [{"name": "registry"}])
    assert pod["containers"][0]["resources"]["limits"] == {"memory": "2Gi"}, "what is not given keeps its value"


def test_the_chart_makes_a_secret_where_none_exists(tmp_path):
    found = by_kind(rendered(OWN, tmp_path))
    assert found["Secret"][0]["stringData"] == OWN["secret"]["values"]
    assert "Ingress" not in found, "without a host there is nothing to route"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "secret.values.SECRET_KEY is needed, or secret.existing"),
        (EXTERNAL | {"processes": {"ticker": {"replicas": 2}}}, "maximum: got 2, want 1"),
        (EXTERNAL | {"processes": {"web": {"replicas": "many"}}}, "got string, want integer"),
        (EXTERNAL | {"processes": {"wep": {"replicas": 1}}}, "'wep' not allowed"),
    ],
)
def test_wrong_values_are_refused_in_words(values, sentence, tmp_path):
    with pytest.raises(RenderError, match=sentence):
        rendered(values, tmp_path)
