"""Harmony's experiments on one workload each: what the documentation says of them is what they give."""

import pytest

from experiments import Options, run


def held(table):
    return {check.what: check.holds for check in table.checks}


def test_the_curve_of_disk_ratios_needs_iterations_that_read_all_input():
    table = run("harmony_sec5g", Options(seeds=1))
    missed = {what for what, holds in held(table).items() if holds is False}
    assert missed == {
        "everything on disk / best fixed (paper: slower)",
        "adaptive / best fixed (paper 0.84)",
        "adaptive / best fixed, heaps by application (paper 0.84)",
    }
    seconds = {share: times[:2] for share, *times in table.rows}
    assert seconds["0.3"] == pytest.approx([42.0, 42.0], abs=0.5)
    assert seconds["1"] == pytest.approx([42.0, 126.8], abs=0.5)  # 608.5 GB at 0.15 GB/s on 32 machines: 126.8 s
    assert seconds["adapted"] == pytest.approx([42.0, 42.0], abs=0.5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fails"),
    [("harmony_fig10", {"mean completion time, Isolated / Harmony, relative to the 2.11 of the paper"}),
     ("harmony_fig12", {"completion time, comp60 / comm60 (paper 1.26)"}),
     ("harmony_fig13", set()), ("harmony_fig14", set()), ("harmony_sec5d", set()),
     ("harmony_sec5c", {"grouping − subtasks alone"})],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_holds_and_what_does_not(name, fails):
    """One workload is one draw: bands that are means over four may be missed by a little.

    So only what is reported as missed is pinned.
    """
    missed = {what for what, holds in held(run(name, Options(seeds=1))).items() if holds is False}
    assert fails <= missed
    assert len(missed - fails) <= 2
