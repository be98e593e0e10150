"""Harmony's experiments on one workload each: what the documentation says of them is what they give."""

import pytest

from twin.experiments import Ask, h10, h12, h13, h14, h15, h16, h17


def held(table):
    return {check.what: check.holds for check in table.checks}


def test_memory_has_a_best_ratio_and_adapting_finds_it():
    table = h17.run(Ask(seeds=1))
    assert table.holds
    assert dict(table.rows)["adapted"] == pytest.approx(42.0, abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "fails"),
    [(h10, {"paper: 2.11"}), (h12, {"completion time, comp60 / comm60 (paper 1.26)"}), (h13, set()), (h14, set()), (h16, set()),
     (h15, {"grouping above subtasks alone"})],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_what_holds_and_what_does_not(module, fails):
    """One workload is one draw: bands that are means over four may be missed by a little, so only what is told as missed is pinned."""
    missed = {what for what, holds in held(module.run(Ask(seeds=2))).items() if holds is False}
    assert fails <= missed
    assert len(missed - fails) <= 2
