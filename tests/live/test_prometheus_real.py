"""The sampler against a real Prometheus that scrapes exporters of made-up nodes."""

import os
import shutil
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.twin.samplers import exporters
from twin.connectors.facts import ConnectorError, NodeFact
from twin.samplers import base
from twin.samplers.facts import Occupancy

PROMETHEUS = os.environ.get("TWIN_PROMETHEUS") or shutil.which("prometheus")
MAX_WAIT_S = 60
NODES = {
    name: NodeFact(name, gpus=gpus, cpus=8, memory_mb=16_000)
    for name, gpus in (("edge1", 4), ("edge2.example.org", 2), ("cpu1", 0))
}
CONFIG = """
global: {{scrape_interval: 1s}}
scrape_configs:
- job_name: gpu
  static_configs: [{{targets: ["127.0.0.1:{port}"], labels: {{cluster: lab}}}}]
  metrics_path: /gpu
- job_name: gpu-again
  static_configs: [{{targets: ["127.0.0.1:{port}"], labels: {{cluster: lab}}}}]
  metrics_path: /gpu
- job_name: nodes
  metrics_path: /node
  static_configs: [{{targets: ["edge1:9100", "edge2:9100", "cpu1:9100", "10.0.0.7:9100"], labels: {{cluster: lab}}}}]
  relabel_configs:
  - {{source_labels: [__address__], target_label: instance}}
  - {{target_label: __address__, replacement: "127.0.0.1:{port}"}}
"""
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROMETHEUS, reason="No real Prometheus (apt-get install prometheus)"),
]


class Exporters(BaseHTTPRequestHandler):
    began = time.monotonic()

    def do_GET(self) -> None:
        elapsed = time.monotonic() - self.began
        if self.path == "/gpu":
            text = exporters.dcgm("edge1", [90, 0, 0, 30], [60_000, 50_000, 400, 8_000])
            text += "".join(
                line + "\n" for line in exporters.dcgm("edge2", [0, 0], [0, 0]).splitlines() if not line.startswith("#")
            )
        else:
            text = exporters.node(4, elapsed * 0.25, elapsed * 0.75, 64e9, 48e9)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        """Silence."""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prometheus")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Exporters)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "prometheus.yml").write_text(CONFIG.format(port=server.server_address[1]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    argv = [
        str(PROMETHEUS),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(argv, stdout=log, stderr=log)
    yield f"http://{address}"
    process.terminate()
    process.wait(timeout=20)
    server.shutdown()


def until(url, condition):
    """The first sample for which the condition holds."""
    sampler = base.build("prometheus", {"url": url, "labels": "cluster=lab"})
    end, last = time.monotonic() + MAX_WAIT_S, None
    while time.monotonic() < end:
        try:
            last = sampler.sample(Occupancy(NODES))
            if condition({use.node: use for use in last.uses}):
                return last
        except ConnectorError as error:
            last = error
        time.sleep(0.2)
    pytest.fail(f"did not come true within {MAX_WAIT_S} s: {last}")


def test_the_use_of_nodes_is_read(url):
    sample = until(url, lambda uses: len(uses) == 3 and all(use.cpus is not None for use in uses.values()))
    uses = {use.node: use for use in sample.uses}
    edge1 = uses["edge1"]
    # a GPU with little memory in use that is not busy is not in use; one scraped twice counts once
    assert (edge1.gpus, edge1.gpus_busy, edge1.gpus_known) == (3, pytest.approx(1.2), 4)
    assert edge1.cpus == pytest.approx(2.0, abs=0.4)
    assert edge1.memory_mb == pytest.approx(4_000)
    assert (uses["edge2.example.org"].gpus, uses["edge2.example.org"].gpus_busy) == (0, 0)
    assert (uses["cpu1"].gpus, uses["cpu1"].gpus_busy) == (None, None)
    assert all(0 <= sample.now_ms - use.at_ms <= 60_000 for use in uses.values())
    assert abs(sample.now_ms - time.time() * 1000) < 60_000


def test_the_connection_test_counts_the_nodes_with_samples(url):
    until(url, lambda uses: len(uses) == 3)
    found = base.build("prometheus", {"url": url}).check(Occupancy(NODES))
    messages = {finding.subject: finding.message for finding in found}
    assert messages["use of GPUs busy"] == "samples of 2 of 2 nodes"
    assert messages["use of memory"] == "samples of 3 of 3 nodes"


def test_a_metric_that_nobody_exports_is_named_with_its_exporter(url):
    until(url, lambda uses: len(uses) == 3)
    found = base.build("prometheus", {"url": url, "gpu_used": "no_such_metric"}).check(Occupancy(NODES))
    missing = next(finding for finding in found if finding.subject == "use of GPUs in use")
    assert (missing.well, missing.message) == (False, "no series no_such_metric")
    assert "add no_such_metric" in missing.remedy


def test_another_cluster_of_the_same_prometheus_is_not_read(url):
    until(url, lambda uses: len(uses) == 3)
    with pytest.raises(ConnectorError, match="it has none of the metrics"):
        base.build("prometheus", {"url": url, "labels": "cluster=other"}).sample(Occupancy(NODES))
