"""What all tests share: where the real traces are, and that no test of properties fails because the machine is busy.

The garbage collector leaves out what pytest keeps of its thousands of tests: it would look at all of that each time.

Tests that need the traces skip, saying so, when the folder is absent.
"""

import gc
import sqlite3
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import cases

pytest_plugins = ["tests.exercised", "tests.twin.runtime.fixtures", "tests.twin.samplers.fixtures"]

BROWSER = Path(__file__).resolve().parent / "browser"
TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"

settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "few random cases in each test (tests/cases.py), and no test that is marked thorough"
    parser.addoption("--quick", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    cases.quick = config.getoption("--quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    _found_by_bin_test(items)
    if config.getoption("--quick"):
        left_out = [item for item in items if item.get_closest_marker("thorough")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def _found_by_bin_test(items: list[pytest.Item]) -> None:
    """Refuses the marker browser in a file where bin/test does not look for it: its test would never run."""
    for path in {item.path for item in items if item.get_closest_marker("browser")}:
        if BROWSER not in path.parents:
            raise pytest.UsageError(f"{path}: tests marked browser must be in {BROWSER}")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None) -> Iterator[None]:
    """In bin/test: the tests' database in memory gets its tables from one that was migrated once for all processes."""
    from django.db import connection

    from tests.twin.runtime import prepared

    if connection.vendor != "sqlite" or not prepared.shared():
        yield
        return
    memory = sqlite3.connect(connection.creation._get_test_db_name(), uri=True)
    prepared.copy_database(memory)
    yield  # the database lives as long as a connection to it
    memory.close()


@pytest.fixture(scope="session")
def traces() -> Path:
    if not TRACES.is_dir():
        pytest.skip(f"the real trace files are not at {TRACES}")
    return TRACES
