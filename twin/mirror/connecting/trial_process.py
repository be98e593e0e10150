"""The process of one connection test: settings as JSON on its standard input, the result on its standard output."""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections import Counter
from dataclasses import asdict
from typing import Any

import django
import orjson

MAX_MEMORY = 2**30  # bytes of data
MAX_NODES = 5_000  # of an answer


class Late(Exception):
    """The time limit has passed."""


def main() -> None:
    """Trial of the connection on standard input, within the limits; its result is written to standard output."""
    given = orjson.loads(sys.stdin.buffer.read())
    django.setup()
    from twin.mirror.connecting.trial import failed

    limit_s = float(given["limit_s"])
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(
        resource.RLIMIT_DATA, (MAX_MEMORY if most == resource.RLIM_INFINITY else min(MAX_MEMORY, most), most)
    )
    signal.signal(signal.SIGALRM, _late)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        result = _tested(given)
    except Late:
        result = failed(f"the test did not end within {limit_s:g} s and was stopped")
    except MemoryError:
        result = failed(f"the test needed more than {MAX_MEMORY // 2**20} MiB of memory and was stopped")
    sys.stdout.buffer.write(orjson.dumps(result))


def _late(*_: Any) -> None:
    raise Late


def _tested(given: dict[str, Any]) -> dict[str, Any]:
    from django.db import DatabaseError

    from scheduling.kernel.parameters import UnknownName, parse_declared
    from scheduling.model.values import ModelError
    from twin.connectors.base import build
    from twin.connectors.facts import ConnectorError
    from twin.mirror.connecting.trial import failed
    from twin.mirror.nodes.sites import SiteRule
    from twin.samplers.base import build as build_sampler
    from twin.samplers.facts import occupancy_of

    began = time.monotonic()
    result = failed("")
    try:
        rule = parse_declared("sites", SiteRule, given["sites"])
        connector = build(given["connector"], given["parameters"])
        try:
            found = connector.check()
            result |= {"version": found.version, "clock_offset_ms": found.clock_offset_ms, "well": found.well}
            result["findings"] = [asdict(finding) for finding in found.findings]
            if found.well:
                snapshot = connector.snapshot()
                nodes = snapshot.nodes or ()
                result["jobs"] = Counter(job.state for job in snapshot.jobs)
                result["total_nodes"] = len(nodes)
                result["nodes"] = [asdict(node) | {"site": rule.site(node)} for node in nodes[:MAX_NODES]]
                if given["sampler"]:
                    sampler = build_sampler(given["sampler"], given["sampler_parameters"])
                    result["findings"] += [asdict(finding) for finding in sampler.check(occupancy_of(snapshot))]
                    sampler.close()
        finally:
            connector.close()
    except (ConnectorError, ModelError, UnknownName) as error:
        result |= {"well": False, "error": str(error)}
    except (DatabaseError, OSError) as error:
        result |= {"well": False, "error": f"the test of the connection failed: {' '.join(str(error).split())[:200]}"}
    result["seconds"] = round(time.monotonic() - began, 2)
    return result


if __name__ == "__main__":
    main()
