"""A real API server accepts the manifests of deploy/kubernetes."""

import pytest
import yaml

from tests.twin.runtime.stack import ROOT

PATHS = {
    "Secret": "/api/v1/namespaces/default/secrets",
    "Service": "/api/v1/namespaces/default/services",
    "PersistentVolumeClaim": "/api/v1/namespaces/default/persistentvolumeclaims",
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "Ingress": "/apis/networking.k8s.io/v1/namespaces/default/ingresses",
}


@pytest.mark.slow
def test_the_manifests_are_accepted(cluster):
    for name in ("secret.example.yaml", "twin.yaml"):
        for one in yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / name).read_text()):
            made = cluster.ask(f"{PATHS[one['kind']]}?dryRun=All&fieldValidation=Strict", "POST", one)
            assert made["metadata"]["name"] == one["metadata"]["name"]
            assert pruned(one.get("spec", {}), made.get("spec", {})) == [], one["metadata"]["name"]


def pruned(given, made, at="spec"):
    """Places of fields that the server has dropped, because it does not know them."""
    if isinstance(given, dict):
        lost = [f"{at}.{key}" for key in given if key not in made]
        return lost + [p for key in given if key in made for p in pruned(given[key], made[key], f"{at}.{key}")]
    if isinstance(given, list):
        return [place for i, one in enumerate(given) for place in pruned(one, made[i], f"{at}[{i}]")]
    return []
