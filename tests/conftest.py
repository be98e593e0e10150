"""What all tests share: where the real traces are (tests that need them skip, saying so, when the folder is absent)."""

from pathlib import Path

import pytest

TRACES = Path(__file__).resolve().parents[2] / "shared" / "traces"


@pytest.fixture(scope="session")
def traces() -> Path:
    if not TRACES.is_dir():
        pytest.skip(f"the real trace files are not at {TRACES}")
    return TRACES
