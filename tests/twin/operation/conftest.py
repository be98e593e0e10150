"""A bus of its own and stored runs."""

from tests.twin.runtime.conftest import (  # noqa: F401 (fixtures)
    fresh,
    heartbeats,
    layer,
    make_run,
    make_scenario,
    valkey,
)
