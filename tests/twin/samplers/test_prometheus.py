"""The sampler `prometheus` on recorded and on hostile answers of a server (fake_prometheus.py)."""

import json
import re
from contextlib import suppress

import pytest

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from tests.twin.samplers.fake_prometheus import AT_S, RECORDED, answer, vector
from twin.connectors.facts import ConnectorError, NodeFact
from twin.samplers import base
from twin.samplers._prometheus import client
from twin.samplers.facts import NodeUse, Occupancy

OCCUPANCY = Occupancy(
    {
        name: NodeFact(name, gpus=gpus, cpus=8, memory_mb=16_000)
        for name, gpus in (("edge1", 4), ("edge2.example.org", 2), ("cpu1", 0))
    }
)
EDGE1, GPU0 = {"instance": "edge1:9100"}, {"Hostname": "edge1", "gpu": "0", "instance": "10.0.0.5:9400"}


def sampler(server, **parameters):
    return base.build("prometheus", {"url": server.url, **parameters})


def uses(server, **parameters) -> dict[str, NodeUse]:
    return {use.node: use for use in sampler(server, **parameters).sample(OCCUPANCY).uses}


def refused(server, **parameters) -> str:
    """The sentence with which a sample fails, in which everything but the address stands."""
    with pytest.raises(ConnectorError) as error:
        sampler(server, **parameters).sample(OCCUPANCY)
    assert "\n" not in str(error.value)
    return str(error.value).replace(server.url, "URL")


def test_recorded_answers_give_the_use_of_each_node(prometheus):
    found = uses(prometheus)
    edge1 = found["edge1"]
    assert (edge1.gpus, edge1.gpus_busy, edge1.gpus_known) == (3, pytest.approx(1.2), 4)
    assert (edge1.cpus, edge1.memory_mb) == (pytest.approx(2.0), pytest.approx(4_000))
    assert (found["edge2.example.org"].gpus, found["edge2.example.org"].gpus_busy) == (0, 0)
    assert (found["cpu1"].gpus, found["cpu1"].cpus) == (None, pytest.approx(2.0))


def test_the_time_of_a_sample_is_that_of_its_scrape(prometheus):
    sample = sampler(prometheus).sample(OCCUPANCY)
    assert sample.now_ms == round(AT_S * 1000)
    assert {use.at_ms for use in sample.uses} == {1795363658009, 1795363658005}


def test_a_node_whose_samples_are_old_is_left_out_and_counted(prometheus):
    prometheus.answers["node_at"] = vector((EDGE1, AT_S - 181), ({"instance": "cpu1:9100"}, AT_S - 179))
    sample = sampler(prometheus).sample(OCCUPANCY)
    found = {use.node: use for use in sample.uses}
    assert (found["edge1"].cpus, found["edge1"].gpus) == (None, 3)
    assert found["cpu1"].cpus == pytest.approx(2.0)
    assert sample.why == "1 node with samples that are too old (edge1)"


@pytest.mark.parametrize(
    ("key", "labels", "value"),
    [
        ("gpu_busy", GPU0, "NaN"),
        ("gpu_busy", GPU0, "-1"),
        ("gpu_busy", GPU0, "100.5"),
        ("gpu_memory", GPU0, "+Inf"),
        ("gpu_memory", GPU0, "1.2"),
        ("cpu", EDGE1, "-0.5"),
        ("cpu", EDGE1, "7"),
        ("memory", EDGE1, "two"),
    ],
)
def test_a_value_that_cannot_be_true_is_unknown_and_said(prometheus, key, labels, value):
    prometheus.answers[key] = vector((labels, value))
    sample = sampler(prometheus).sample(OCCUPANCY)
    edge1 = next(use for use in sample.uses if use.node == "edge1")
    value = {"gpu_busy": edge1.gpus_busy, "cpu": edge1.cpus, "memory": edge1.memory_mb, "gpu_memory": 0}[key]
    assert value in (None, 0)
    assert sample.why.startswith(f"1 value out of range ({key} ")


def test_a_rate_a_little_out_of_range_is_rounded(prometheus):
    prometheus.answers["cpu"] = vector((EDGE1, "-0.01"), ({"instance": "cpu1:9100"}, "1.02"))
    found = uses(prometheus)
    assert (found["edge1"].cpus, found["cpu1"].cpus) == (0, 8)


def test_duplicate_series_count_once(prometheus):
    rows = [({"Hostname": "edge1", "gpu": str(i % 4), "instance": f"10.0.0.{i}:9400"}, 50) for i in range(8)]
    prometheus.answers["gpu_busy"] = vector(*rows)
    assert (uses(prometheus)["edge1"].gpus_busy, uses(prometheus)["edge1"].gpus_known) == (2.0, 4)


def test_servers_that_the_cluster_does_not_have_are_no_fault(prometheus):
    sample = sampler(prometheus).sample(OCCUPANCY)
    assert "10.0.0.7" in json.dumps(RECORDED["cpu"])
    assert {use.node for use in sample.uses} == set(OCCUPANCY.nodes)
    assert sample.why == ""


def test_series_of_other_names_only_are_an_error_that_names_them(prometheus):
    with pytest.raises(ConnectorError, match=r"no samples .* 5 names that no node of the cluster has \(10\.0\.0"):
        sampler(prometheus, node_label="instance").sample(Occupancy({"gpu-17": NodeFact("gpu-17", gpus=1)}))


def test_metrics_labels_and_matchers_enter_the_queries(prometheus):
    made = sampler(prometheus, cpu="cpu_seconds", labels='cluster=la"b', node_label="node, Hostname", interval_s=90)
    text = made._queries.expressions()
    assert text["gpu_busy"] == 'max by (node, Hostname, gpu) (DCGM_FI_DEV_GPU_UTIL{cluster="la\\"b"})'
    assert 'rate(cpu_seconds{cluster="la\\"b", mode=~"idle|iowait"}[180s])' in text["cpu"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"url": ""}, "parameter url is missing"),
        ({"url": "prometheus:9090"}, "url must look like http://prometheus:9090, got 'prometheus:9090'"),
        ({"url": "http://user:secret@host"}, "url must look like http://prometheus:9090"),
        ({"interval_s": 59}, "parameter interval_s (Sample interval) must be at least 60 s, got 59"),
        ({"cpu": "up) or vector(1"}, "parameter cpu must be the name of a metric"),
        ({"node_label": "a b"}, "parameter node_label must be names of labels"),
        ({"labels": "cluster"}, "parameter labels must have the form label=value"),
        ({"token_from": "x", "url": "http://prometheus:9090"}, "a token must not be sent without TLS"),
        ({"nothing": "x"}, "unknown parameter 'nothing'"),
    ],
)
def test_settings_that_cannot_work_are_refused(parameters, message):
    with pytest.raises((ModelError, UnknownName, ConnectorError), match=re.escape(message)):
        base.build("prometheus", {"url": "http://prometheus:9090", **parameters})


def test_the_token_is_read_from_a_file_for_each_request(prometheus, tmp_path):
    (tmp_path / "token").write_text("one\n")
    made = sampler(prometheus, token_from=str(tmp_path / "token"))
    made.sample(OCCUPANCY)
    (tmp_path / "token").write_text("two\n")
    made.sample(OCCUPANCY)
    assert set(prometheus.tokens) == {"Bearer one", "Bearer two"}


def test_a_login_page_is_said_to_be_one(prometheus):
    prometheus.hostile = lambda handler: answer(handler, 302, b"", Location="https://login.example.org/\x0b?next=1")
    assert refused(prometheus).startswith("Prometheus URL: it redirects to https://login.example.org/")
    prometheus.hostile = lambda handler: answer(handler, 200, b"<!doctype html><title>Sign in</title>")
    assert refused(prometheus) == (
        "Prometheus URL: the answer (200) is HTML, not that of a Prometheus API; correct the URL"
    )


def test_a_missing_token_and_a_wrong_one_are_told_apart(prometheus, tmp_path):
    prometheus.hostile = lambda handler: answer(handler, 401, b"Unauthorized")
    assert refused(prometheus) == "Prometheus URL: it refuses the request (401); give token_from"
    (tmp_path / "token").write_text("wrong")
    message = refused(prometheus, token_from=str(tmp_path / "token"))
    assert message == "Prometheus URL: it refuses the request (401); the token of token_from is not accepted"
    assert "wrong" not in message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "is no JSON, not that of a Prometheus API"),
        (b'{"status": "success"}', "is not a vector of series with values"),
        (b'{"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}}]}}', "is not a vector of"),
        (b'{"status": "success", "data": {"resultType": "matrix", "result": []}}', "is a matrix, not a vector"),
        (b'{"status": "success", "data": {"resultType": "vector", "result": null}}', "is not a vector of series"),
        (json.dumps(RECORDED["refused"]).encode(), 'invalid parameter "query"'),
        (b"\xff\xfe", "is no JSON"),
    ],
)
def test_answers_of_another_shape_are_refused_in_one_sentence(prometheus, body, message):
    prometheus.hostile = lambda handler: answer(handler, 200, body)
    assert message in refused(prometheus)


def test_an_empty_prometheus_names_what_to_look_at(prometheus):
    prometheus.answers = dict.fromkeys(prometheus.answers, vector())
    assert "it has none of the metrics" in refused(prometheus)


def test_gigabytes_are_stopped(prometheus, monkeypatch):
    monkeypatch.setattr(client, "MAX_ANSWER_BYTES", 1_000_000)

    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            while not prometheus.over.is_set():
                handler.wfile.write(b"[" * 65_536)

    prometheus.hostile = endless
    assert "an answer is longer than 1 MB and was stopped" in refused(prometheus)


def test_a_server_that_hangs_or_trickles_is_given_up_at_the_deadline(prometheus):
    prometheus.hostile = lambda handler: prometheus.over.wait()
    assert "no answer within 0.2 s" in refused(prometheus, timeout_s=0.2)

    def trickle(handler):
        handler.send_response(200)
        handler.end_headers()
        with suppress(OSError):
            while not prometheus.over.wait(0.02):
                handler.wfile.write(b" ")

    prometheus.hostile = trickle
    assert "no answer within 0.3 s" in refused(prometheus, timeout_s=0.3)


def test_a_server_that_is_away_is_said_to_be(prometheus):
    prometheus.close()
    assert "nothing listens on port" in refused(prometheus)


def test_the_connection_test_says_what_is_missing_and_what_gives_it(prometheus):
    for key in ("gpu_busy", "gpu_memory", "gpu_at"):
        prometheus.answers[key] = vector()
    found = {finding.subject: finding for finding in sampler(prometheus).check(OCCUPANCY)}
    busy = found["use of GPUs busy"]
    assert (busy.well, busy.message) == (False, "no series DCGM_FI_DEV_GPU_UTIL")
    assert "install dcgm-exporter" in busy.remedy
    assert (found["use of CPUs"].well, found["use of CPUs"].message) == (True, "samples of 3 of 3 nodes")
    assert not any(finding.needed for finding in found.values())
    prometheus.close()
    (away,) = sampler(prometheus).check(OCCUPANCY)
    assert (away.well, away.needed) == (False, False)


def test_the_connection_test_says_which_names_are_not_nodes(prometheus):
    found = sampler(prometheus, node_label="instance").check(Occupancy({"gpu-17": NodeFact("gpu-17", gpus=1)}))
    cpus = next(finding for finding in found if finding.subject == "use of CPUs")
    assert (cpus.message, cpus.remedy) == (
        "samples of 0 of 1 node",
        "give the label with the names of nodes as node_label (now instance)",
    )
    assert "that no node of the cluster has" in found[-1].message
