"""Prometheus: reads the use of nodes from a site's Prometheus, as dcgm-exporter and node_exporter report it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from scheduling.kernel.parameters import Parameters, parameter
from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from twin.connectors.access import Access
from twin.connectors.facts import ConnectorError, Finding
from twin.samplers._prometheus.client import Client, Series
from twin.samplers._prometheus.nodes import Names
from twin.samplers._prometheus.queries import Metrics, Queries, checked_labels, checked_matchers, checked_metric
from twin.samplers._prometheus.reading import Reading, read
from twin.samplers.base import STALE_INTERVALS, Sampler, sample_interval
from twin.samplers.facts import Occupancy, Sample

EXAMPLE = "http://prometheus:9090"


@dataclass(frozen=True, slots=True)
class PrometheusParameters(Parameters):
    url: str = parameter("", f"Address of Prometheus, for example {EXAMPLE}", title="Prometheus")
    interval_s: int = sample_interval()
    timeout_s: float = parameter(
        10.0, "Time after which the queries of a sample fail", low=0.1, high=60, unit="s", title="Query timeout"
    )
    token_from: str = parameter(
        "", "File that holds a bearer token, or $NAME of an environment variable; empty: none", title="Token source"
    )
    ca_file: str = parameter(
        "", "File with the CA certificate of Prometheus; empty: the system's certificates", title="CA certificate file"
    )
    labels: str = parameter(
        "", "Labels of the series of this cluster, for example cluster=lab; empty: all series", title="Labels"
    )
    node_label: str = parameter(
        "Hostname,instance", "Labels that name the node; the first one that is present in a series is used",
        title="Node labels",
    )  # fmt: skip
    gpu_label: str = parameter("gpu", "Label that numbers the GPUs of a node", title="GPU label")
    gpu_busy: str = parameter("DCGM_FI_DEV_GPU_UTIL", "Metric: time in which a GPU is busy, %", title="GPU busy")
    gpu_used: str = parameter("DCGM_FI_DEV_FB_USED", "Metric: used memory of a GPU", title="GPU memory used")
    gpu_free: str = parameter("DCGM_FI_DEV_FB_FREE", "Metric: free memory of a GPU", title="GPU memory free")
    cpu: str = parameter("node_cpu_seconds_total", "Metric: time of each CPU by mode", title="CPU time")
    memory_total: str = parameter("node_memory_MemTotal_bytes", "Metric: total memory of a node", title="Total memory")
    memory_available: str = parameter(
        "node_memory_MemAvailable_bytes", "Metric: available memory of a node", title="Memory available"
    )


class PrometheusSampler(Sampler):
    name = "prometheus"
    title = "Prometheus"
    summary = "Reads GPU, CPU and memory use from a Prometheus that scrapes dcgm-exporter and node_exporter."
    Parameters = PrometheusParameters

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        p = self.parameters
        if not p.url:
            raise ModelError(f"parameter url is missing: give the address of Prometheus, for example {EXAMPLE}")
        access = Access(p.url, ca_file=p.ca_file, token_from=p.token_from, example=EXAMPLE)
        self._client = Client(access, p.timeout_s)
        names = {name: checked_metric(name, getattr(p, name)) for name in Metrics.__slots__}
        self._by = checked_labels("node_label", p.node_label)
        (gpu,) = checked_labels("gpu_label", p.gpu_label)[:1]
        self._queries = Queries(Metrics(**names), self._by, gpu, checked_matchers(p.labels), p.interval_s)

    def check(self, occupancy: Occupancy) -> tuple[Finding, ...]:
        try:
            answers = self._answers()
        except ConnectorError as error:
            return (Finding("samples", False, str(error), needed=False),)
        found, names = self._read(answers, occupancy)
        return (*_findings(self.parameters, answers, found, occupancy), *_doubts(found, names))

    def sample(self, occupancy: Occupancy) -> Sample:
        answers = self._answers()
        found, names = self._read(answers, occupancy)
        now_s = max((one.at_s for series in answers.values() for one in series), default=time.time())
        if not found.uses:
            why = found.why(names.strangers) or "it has none of the metrics; the test of the connection names them"
            raise ConnectorError(f"Prometheus {self.parameters.url}: no samples of nodes of the cluster: {why}")
        # series of other machines are usual, and no fault as long as some are of the cluster
        return Sample(round(now_s * 1000), tuple(found.uses), found.why(()))

    def _answers(self) -> dict[str, list[Series]]:
        deadline = time.monotonic() + self.parameters.timeout_s
        return {key: self._client.query(text, deadline) for key, text in self._queries.expressions().items()}

    def _read(self, answers: dict[str, list[Series]], occupancy: Occupancy) -> tuple[Reading, Names]:
        names = Names(occupancy.nodes, self._by)
        found, _ = read(answers, occupancy.nodes, names, STALE_INTERVALS * self.parameters.interval_s)
        return found, names


def _findings(p: Any, answers: dict[str, list[Series]], found: Reading, occupancy: Occupancy) -> list[Finding]:
    """Findings with the number of nodes with samples, and the exporter to install for missing series."""
    with_gpus = [node for node in occupancy.nodes.values() if node.gpus]
    dcgm = "install dcgm-exporter on the nodes with GPUs, and have Prometheus scrape it"
    host = "install node_exporter on the nodes, and have Prometheus scrape it"
    memory = f"add {p.gpu_used} and {p.gpu_free} to the counters of dcgm-exporter"
    rows = (
        ("gpu_busy", "GPUs busy", p.gpu_busy, dcgm, sum(use.gpus_busy is not None for use in found.uses)),
        ("gpu_memory", "GPUs in use", p.gpu_used, memory, sum(use.gpus is not None for use in found.uses)),
        ("cpu", "CPUs", p.cpu, host, sum(use.cpus is not None for use in found.uses)),
        ("memory", "memory", p.memory_available, host, sum(use.memory_mb is not None for use in found.uses)),
    )
    out = []
    for key, subject, metric, remedy, nodes in rows:
        whole = len(with_gpus) if key.startswith("gpu") else len(occupancy.nodes)
        if not whole:
            continue
        message = f"samples of {nodes:,} of {counted(whole, 'node')}" if answers[key] else f"no series {metric}"
        named = f"give the label with the names of nodes as node_label (now {p.node_label})"
        out.append(
            Finding(f"use of {subject}", bool(answers[key]) and nodes == whole, message,
                    remedy if not answers[key] or nodes else named, needed=False)
        )  # fmt: skip
    return out


def _doubts(found: Reading, names: Names) -> list[Finding]:
    why = found.why(names.strangers if not found.uses else ())
    return [Finding("samples", False, why, "", needed=False)] if why else []
