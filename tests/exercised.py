"""Operations of the API that tests exercised with success; a run of all tests of the dashboard fails without one."""

from __future__ import annotations

from typing import Any

import pytest

done: set[str] = set()  # "METHOD PATH" as in the OpenAPI description
KEY = "operations"  # of what a worker of xdist reports
WHOLE = ("tests", "tests/dashboard")


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: Any) -> None:
    done.update(getattr(node, "workeroutput", {}).get(KEY, ()))


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput[KEY] = sorted(done)
    elif exitstatus == 0 and _whole(config) and (missing := _operations() - done):
        print("\nOperations of the API that no test exercises with success:", *sorted(missing), sep="\n  ")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _whole(config: pytest.Config) -> bool:
    """True if all quick tests of the dashboard were asked for."""
    options = config.option
    chosen = (
        options.keyword or options.deselect or options.ignore or getattr(options, "lf", False) or options.collectonly
    )
    return (
        not chosen
        and options.markexpr in ("", "not slow and not browser")
        and any(path in WHOLE for path in config.args)
    )


def _operations() -> set[str]:
    from tests.dashboard.described_answers import CHECKED, description

    return {
        f"{method.upper()} {path}"
        for path, methods in description()["paths"].items()
        for method in methods
        if method.upper() in CHECKED
    }
