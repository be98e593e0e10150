"""Connection test: version, clock, rights, and what of a cluster the twin can show."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from scheduling.reporting.quantities import counted
from twin.connectors._kubernetes.client import Client
from twin.connectors._kubernetes.demands import Reader
from twin.connectors._kubernetes.kinds import KINDS, NODES, PODS, Source
from twin.connectors._kubernetes.quantities import line
from twin.connectors.facts import ConnectorError, Finding, Found

REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
SELF_REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
VERBS = ("list", "watch")
ROLE = "twin-reader"
MAX_CLOCK_OFFSET_MS = 2000
MAX_OTHER_RESOURCES = 5


def version(client: Client) -> str:
    """Version of the server; ConnectorError where it is none."""
    answer = client.get("/version")
    if not isinstance(answer, dict) or "gitVersion" not in answer:
        url = client.access.url
        raise ConnectorError(f"{url} is not a Kubernetes API: it does not report its version; correct the URL")
    return line(answer["gitVersion"], 60)


def examine(client: Client, sources: Sequence[Source], reader: Reader) -> Found:
    """Findings of a connection test."""
    number = version(client)
    missing = [source for source in sources if not all(_allowed(client, source, verb) for verb in VERBS)]
    findings = [_clock(client), *_rights(client, sources, missing), _kinds(sources)]
    readable = [source for source in sources if source not in missing]
    findings += _offers(client, readable, reader)
    return Found(number, client.clock.offset_ms, tuple(findings))


def _clock(client: Client) -> Finding:
    offset = client.clock.offset_ms
    if offset is None:
        return Finding("clock", True, "the server does not report its time")
    if abs(offset) <= MAX_CLOCK_OFFSET_MS:
        return Finding("clock", True, "the cluster's clock agrees with that of the twin")
    way = "ahead of" if offset > 0 else "behind"
    message = f"the cluster's clock is {abs(offset) / 1000:.0f} s {way} that of the twin"
    return Finding("clock", True, message, "synchronize both by NTP")


def _allowed(client: Client, source: Source, verb: str) -> bool:
    kind = source.kind
    attributes = {"verb": verb, "group": kind.group, "resource": kind.resource, "namespace": source.namespace}
    asked = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    return bool((client.post(REVIEWS, asked).get("status") or {}).get("allowed"))


def _rights(client: Client, sources: Sequence[Source], missing: Sequence[Source]) -> Iterator[Finding]:
    if not missing:
        yield Finding("rights", True, f"the account may list and watch {_names(sources)}")
        return
    allowed = [source for source in sources if source not in missing]
    rest = f"; it may {_names(allowed)}" if allowed else ""
    message = f"the account may not list and watch {_names(missing)}{rest}"
    yield Finding("rights", False, message, grant(sources, account(client, missing[0])))


def grant(sources: Sequence[Source], account: str) -> str:
    """Commands that grant the rights; in all namespaces, because nodes belong to none."""
    resources = ",".join(dict.fromkeys(source.kind.full_name for source in sources))
    role = f"kubectl create clusterrole {ROLE} --verb=get,list,watch --resource={resources}"
    return f"{role} && kubectl create clusterrolebinding {ROLE} --clusterrole={ROLE} {account}"


def account(client: Client, refused: Source) -> str:
    """The account in the form of kubectl: from the server, or from its refusal of a list."""
    try:
        review = client.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", SELF_REVIEW)  # since Kubernetes 1.28
        name = str(review["status"]["userInfo"]["username"])
    except (ConnectorError, KeyError, TypeError):
        try:
            client.get(refused.path, {"limit": 1})
            name = ""
        except ConnectorError as refusal:
            found = re.search(r'User "([^"]+)"', str(refusal))
            name = found[1] if found else ""
    parts = name.split(":")
    if parts[:2] == ["system", "serviceaccount"] and len(parts) == 4:
        return f"--serviceaccount={parts[2]}:{parts[3]}"
    return f"--user={name or 'USER'}"


def _names(sources: Sequence[Source]) -> str:
    return ", ".join(map(str, sources))


def _kinds(sources: Sequence[Source]) -> Finding:
    there = {source.kind for source in sources}
    absent = [kind.name for kind in KINDS if kind not in there]
    message = "read: " + ", ".join(kind.name for kind in KINDS if kind in there)
    return Finding("kinds", True, message + (f"; not installed: {', '.join(absent)}" if absent else ""))


def _offers(client: Client, sources: Sequence[Source], reader: Reader) -> Iterator[Finding]:
    for source in sources:
        if source.kind.role == NODES:
            yield _gpus(client, source, reader)
        elif source.kind.role == PODS and not client.get(source.path, {"limit": 1}).get("items"):
            yield Finding("jobs", True, f"there are no pods{' in ' + source.namespace if source.namespace else ''} yet")


def _gpus(client: Client, source: Source, reader: Reader) -> Finding:
    """Number of GPUs that nodes offer; where none does, what else they offer that may be meant."""
    count = nodes = 0
    others: dict[str, None] = {}
    query: dict[str, Any] = {"limit": 500}
    while True:
        page = client.get(source.path, query)
        for node in page.get("items") or ():
            nodes += 1
            offered = (node.get("status") or {}).get("allocatable") or {}
            count += reader.amount(offered).gpus
            others |= dict.fromkeys(name for name in offered if "/" in name and not reader.is_gpu(name))
        more = (page.get("metadata") or {}).get("continue")
        if not more:
            break
        query = {"limit": 500, "continue": more}
    if nodes == 0:
        return Finding("nodes", True, "the cluster has no nodes yet")
    if count:
        return Finding("nodes", True, f"{counted(nodes, 'node')} with {counted(count, 'GPU')}")
    named = ", ".join(list(others)[:MAX_OTHER_RESOURCES])
    remedy = (
        f"add the names of its accelerators to the GPU resources (gpu_resources); nodes also offer {named}"
        if named
        else ""
    )
    return Finding("nodes", True, f"{counted(nodes, 'node')} without a GPU: jobs are shown by their CPUs", remedy)
