"""Cards of the form of a new run: the arrivals of a trace, and the servers of a cluster by site and kind."""

from __future__ import annotations

from collections import Counter
from typing import Any

from dashboard.readmodels.studies.gallery import picture
from scheduling.model.values import RESOURCES, SITES
from twin.models import ClusterSpec
from twin.scenarios import store


def trace_card(trace_id: int) -> dict[str, Any]:
    """{jobs, span_ms, picture: bars of the arrivals (gallery.py)}; span_ms: from the first to the last arrival."""
    arrivals = store.jobs_of(trace_id).table.columns.get("arrival_ms")
    if arrivals is None or not len(arrivals):
        return {"jobs": 0, "span_ms": 0, "picture": picture([], [])}
    first, last = int(arrivals.min()), int(arrivals.max())
    return {"jobs": len(arrivals), "span_ms": last - first, "picture": picture((arrivals - first).tolist(), [])}


def cluster_card(spec: ClusterSpec) -> dict[str, Any]:
    """{sites: [{site, servers, gpus, kinds: [{servers, gpu, cpu, ...}]}]}; kinds: the most GPUs of a server first."""
    sites = []
    for site in SITES:
        servers = [server["capacity"] for server in spec.spec["servers"] if server["site"] == site]
        if not servers:
            continue
        kinds = Counter(tuple(capacity.get(name, 0) for name in RESOURCES) for capacity in servers)
        sites.append({
            "site": site, "servers": len(servers), "gpus": sum(capacity.get("gpu", 0) for capacity in servers),
            "kinds": [
                {"servers": count, **dict(zip(RESOURCES, kind, strict=True))}
                for kind, count in sorted(kinds.items(), reverse=True)
            ],
        })  # fmt: skip
    return {"sites": sites}
