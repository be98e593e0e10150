"""Requests that schemathesis makes of the OpenAPI description, right and wrong ones: no answer is a server error.

OPENAPI_EXAMPLES sets the number of requests for each operation and mode.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from typing import Any

import pytest
import requests
import schemathesis
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

from dashboard.http import throttles
from tests.dashboard.builders import downloaded
from tests.dashboard.openapi.openapi_operations import operations
from twin.runs import commands
from twin.studies import sweeps

pytestmark = pytest.mark.slow
EXAMPLES = int(os.environ.get("OPENAPI_EXAMPLES", "4"))
OUTSIDE = (  # of the requests: they start commands of clusters, or compute for minutes with the largest values
    "/api/connections/test/",
    "/api/connections/{name}/test/",
    "/api/workloads/",
)
UNLIMITED = {"user": None, "upload": None, "login": None, "client-error": None}
REPORTS = "dashboard.api.client_errors"  # whose work is to log errors of browsers


@pytest.fixture
def known(make_run, operator, monkeypatch) -> dict[str, Any]:
    """Values of the parameters of paths that exist; the client is an operator without a limit of requests."""
    monkeypatch.setattr(throttles.UserRateThrottle, "THROTTLE_RATES", UNLIMITED)
    operator.raise_request_exception = False
    run = make_run()
    sweeps.start(run.scenario, "", [{"parameter": "backfill", "values": [True, False]}], [])
    commands.start_run(run.scenario)
    return {"id": run.pk, "trace_id": run.scenario.trace_id, "index": 0, "number": 0, "server": 0, "group": 0}


def test_no_request_is_answered_with_a_server_error(known, operator, caplog):
    described = schemathesis.openapi.from_dict(_schema())
    found: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for result in described.get_all_operations():
        operation = result.ok()
        if operation.path in OUTSIDE:
            continue
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                strategy = operation.as_strategy(generation_mode=mode)
                _ask(strategy, operator, known, caplog, found, wrong)
            except Unsatisfiable:
                assert mode is GenerationMode.NEGATIVE, f"{operation.label}: no request fits its description"
    print(f"{sum(found.values()):,} requests; answers by status: {dict(sorted(found.items()))}")
    assert wrong == {}
    assert sum(found.values()) > 100 * EXAMPLES
    assert found["2"] > 0.1 * found["4"]


def _schema() -> dict[str, Any]:
    from drf_spectacular.generators import SchemaGenerator

    schema = json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True)))
    assert sum(1 for _ in operations(schema)) > 100
    return schema


def _ask(
    strategy: Any, client: Any, known: dict[str, Any], caplog: Any, found: Counter[str], wrong: dict[str, str]
) -> None:
    @settings(
        max_examples=EXAMPLES, derandomize=True, database=None, deadline=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(strategy, st.booleans())
    def asked(case: Any, exists: bool) -> None:
        if exists:
            case.path_parameters = dict(case.path_parameters or {}) | {
                name: known[name] for name in case.path_parameters or {} if name in known
            }
        caplog.clear()
        status = _status(case, client)
        faults = [
            f"{one.getMessage()} {one.exc_info[1] if one.exc_info else ''}"
            for one in caplog.records
            if one.levelno >= logging.ERROR and one.name != REPORTS
        ]
        if status >= 500 or faults:
            wrong[case.operation.label] = f"{case.formatted_path} {case.query} {case.body!r}: {status} {faults}"
        found[str(status // 100)] += 1

    asked()


def _status(case: Any, client: Any) -> int:
    """Status of the answer; what the request has changed is undone."""
    sent = case.as_transport_kwargs(base_url="http://testserver")
    made = requests.Request(
        method=case.method, url=sent["url"], params=sent.get("params"), data=sent.get("data"), json=sent.get("json"),
        headers=sent.get("headers"), files=sent.get("files"),
    ).prepare()  # fmt: skip
    body = made.body if isinstance(made.body, bytes) else (made.body or "").encode()
    with transaction.atomic():
        answer = client.generic(
            made.method or "GET", made.path_url, body, made.headers.get("Content-Type", "application/octet-stream")
        )
        if answer.streaming:
            downloaded(answer)
        transaction.set_rollback(True)
    return answer.status_code
