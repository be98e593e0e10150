"""How wrong profiles may be, and how well Eq. (1) predicts an iteration."""

from __future__ import annotations

from statistics import mean
from typing import Any

from experiments import Figure, Options, Table
from experiments._grid import play
from experiments._groups import averages, ratio, spans, table1
from scheduling.colocation.subtasks import mean_iteration_ms

TITLE = "makespan with profiling errors, and Eq. (1) compared with the subtasks"
PAPER = "Harmony, Fig. 13"
CLAIM = (
    "over 90 % of the gain with errors up to 7.5 %, and a rapid decline beyond; predictions are within 5 % at all times"
)
SETTING = (
    "errors are uniform for each job, independent or opposed for computation and communication; all groups of "
    "the runs; the subtasks are simulated, not measured"
)
ERRORS = (0.0, 0.025, 0.05, 0.075, 0.2, 0.4)


def run(options: Options) -> Table:
    instances = [table1(seed) for seed in options.seeds_or(4)]
    isolated = averages(options, "Isolated", instances, ("isolated", {}))
    gains: dict[tuple[float, bool], float] = {}
    for error in ERRORS:
        for opposed in (False, True):
            parameters: dict[str, Any] = {"profile_error": error, "opposed_errors": opposed}
            found = averages(options, f"error {error:.1%}", instances, ("harmony", parameters))
            gains[error, opposed] = ratio(isolated, found, "makespan")
    off: list[float] = []
    released: list[float] = []
    for instance in instances:
        seen = set()
        for _, _, data in spans(play(instance, ("harmony", {}))):
            key = (*data["comp_ms"], *data["comm_ms"])
            if key not in seen:
                seen.add(key)
                for errors, chained in ((off, True), (released, False)):
                    found_ms = mean_iteration_ms(data["comp_ms"], data["comm_ms"], chained=chained)
                    errors.append(abs(found_ms / data["iteration_ms"] - 1))
    rows = tuple((f"{error:.1%}", gains[error, False], gains[error, True]) for error in ERRORS)
    small = min(gains[error, kind] / gains[0.0, kind] for error in ERRORS[:4] for kind in (False, True))
    checks = (
        Figure("gain kept with errors up to 7.5 %", small, "share", 0.9, at_least=True),
        Figure("gain kept with opposed errors of 40 %", gains[0.4, True] / gains[0.0, True], "share"),
        Figure("groups predicted within 5 %", mean(error <= 0.05 for error in off), "share", 0.95, at_least=True),
        Figure("groups checked", len(off), ""),
        Figure("worst prediction", max(off), "share"),
        Figure(
            "within 5 % if a PULL queues again, as in the released code",
            mean(error <= 0.05 for error in released),
            "share",
        ),
    )
    return Table(("error", "makespan, ×", "opposed, makespan, ×"), rows, checks)
