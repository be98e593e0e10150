"""The connection test and wrong settings, with a real API server."""

from pathlib import Path

import pytest
import yaml

from tests.live.kubernetes.builders import PODS
from tests.live.kubernetes.cluster import until
from twin.connectors.facts import (
    ConnectorError,
)

pytestmark = pytest.mark.slow


def test_a_reader_is_refused_with_the_command_that_grants_it(cluster, connect):
    reader = connect(token_from=str(cluster.folder / "reader.token"))
    (rights,) = [finding for finding in reader.check().findings if not finding.well]
    assert rights.message == "the account may not list and watch pods, nodes, jobs.batch"
    assert rights.remedy == (
        "kubectl create clusterrole twin-reader --verb=get,list,watch --resource=pods,nodes,jobs.batch"
        " && kubectl create clusterrolebinding twin-reader --clusterrole=twin-reader --user=reader"
    )
    with pytest.raises(ConnectorError, match=r"has no right for /api/v1/pods.*grant it by kubectl create clusterrole"):
        reader.snapshot()


def test_the_manifest_of_the_docs_grants_enough_and_no_more(cluster, connect):
    page = (Path(__file__).resolve().parents[3] / "docs" / "connect-kubernetes.md").read_text()
    paths = {"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/edge-cloud-twin/serviceaccounts"}
    paths |= {
        kind: f"/apis/rbac.authorization.k8s.io/v1/{kind.lower()}s" for kind in ("ClusterRole", "ClusterRoleBinding")
    }
    for manifest in yaml.safe_load_all(page.split("```yaml")[1].split("```")[0]):
        cluster.ask(paths[manifest["kind"]], "POST", manifest)
    account = f"{paths['ServiceAccount']}/twin-reader"
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"audiences": []}}
    token = cluster.ask(f"{account}/token", "POST", asked)["status"]["token"]
    (cluster.folder / "twin.token").write_text(f"{token}\n")
    reader = connect(token_from=str(cluster.folder / "twin.token"))
    until(lambda: reader.check().well, "the rights are there")
    assert {node.name for node in reader.snapshot().nodes} >= {"node1", "node4"}
    name = cluster.name("safe")
    cluster.pod(name)
    with pytest.raises(AssertionError, match=r"403.*twin-reader.* cannot delete resource"):
        cluster.ask(f"{PODS}/{name}", "DELETE", token=token)


def test_check_tells_the_version_and_the_clock(connect):
    found = connect().check()
    assert found.well
    assert found.version == "v1.20.2"
    assert abs(found.clock_offset_ms) < 1000
    assert "4 nodes with 16 GPUs" in [finding.message for finding in found.findings]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"url": "https://no-such-host.invalid:6443"}, "the host name no-such-host.invalid is not known"),
        ({"url": "https://127.0.0.1:1"}, "nothing listens on port 1 of 127.0.0.1"),
        ({"ca_file": ""}, "its certificate is not signed by the CA of the system"),
        ({"token_from": "$TWIN_WRONG_TOKEN"}, "the token of \\$TWIN_WRONG_TOKEN is not accepted"),
        ({"token_from": ""}, "it refuses requests without a token"),
    ],
)
def test_a_wrong_setting_is_one_clear_sentence(connect, monkeypatch, given, message):
    monkeypatch.setenv("TWIN_WRONG_TOKEN", "wrong")
    with pytest.raises(ConnectorError, match=message):
        connect(**given).check()


def test_a_cluster_without_jobs_and_one_without_gpus(cluster, connect):
    cluster.ask("/api/v1/namespaces", "POST", {"metadata": {"name": "empty"}})
    connector = connect(namespaces="empty", gpu_resources="amd.com/gpu")
    findings = {finding.subject: finding for finding in connector.check().findings}
    assert findings["jobs"].message == "there are no pods in empty yet"
    assert findings["nodes"].message == "4 nodes without a GPU: jobs are shown by their CPUs"
    assert findings["nodes"].remedy.endswith("nodes also offer nvidia.com/gpu")
    snapshot = connector.snapshot()
    amounts = {node.gpus for node in snapshot.nodes}, {node.cpus for node in snapshot.nodes}
    assert (snapshot.jobs, *amounts) == ((), {0}, {32})
