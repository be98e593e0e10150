"""Contribution of each part of Harmony."""

from __future__ import annotations

from experiments import Chart, Figure, Options, Steps, Table
from experiments._grid import Maker, Player
from experiments._groups import NAIVE_CASES, SEEDS, of, outcomes_of, parts_of, ratio, table1

TITLE = "gain from subtasks alone, with grouping, and with reloading of spilled input"
PAPER = "Harmony, Section V-C"
CLAIM = "Subtasks alone give 32 % of the gain, with grouping 81 %, and with reloading 100 %"
SETTING = (
    "subtasks alone: naive partitions with the subtasks of Harmony, mean over the cases; grouping: no "
    "spilling, so memory limits the groups. Variants: grouping with one fixed share of each input on disk"
)
FIXED = (0.7, 1.0)  # share of each input on disk
CHARTS = (Chart("share of the gain in makespan", "", ("share of the gain",)),)


def run(options: Options) -> Steps:
    fixed = {share: f"grouping, {100 * share:.0f} % on disk" for share in FIXED}
    steps: dict[str, dict[str, Player]] = {
        "subtasks": {
            f"subtasks {parts} × {jobs}": (
                "naive_colocation",
                {"partitions": parts, "jobs": jobs, "sharing": "subtasks"},
            )
            for parts, jobs in NAIVE_CASES
        },
        "grouping": {"grouping": ("harmony", {"memory": "none"})},
        **{name: {name: ("harmony", {"memory": "fixed", "disk_ratio": share})} for share, name in fixed.items()},
        "reloading": {"reloading": ("harmony", {})},
    }
    runs: dict[str, tuple[Maker, Player]] = {"Isolated": (table1, ("isolated", {}))}
    runs |= {title: (table1, player) for players in steps.values() for title, player in players.items()}
    values = yield parts_of(runs, options.seeds_or(SEEDS))
    found = outcomes_of(values, runs)
    isolated = found["Isolated"]
    gains = {
        name: sum(ratio(isolated, found[title], "makespan") for title in players) / len(players)
        for name, players in steps.items()
    }
    whole = gains["reloading"] - 1
    rows = tuple(
        (
            name,
            gains[name],
            (gains[name] - 1) / whole,
            sum(of(found[title], "jobs") for title in steps[name]) / len(steps[name]),
        )
        for name in steps
    )
    shares = {str(name): float(share) for name, _, share, _ in rows}
    checks = (
        Figure("subtasks alone (paper 32 %), at least", shares["subtasks"], "share", 0.2, at_least=True),
        Figure("subtasks alone (paper 32 %), at most", shares["subtasks"], "share", 0.6),
        Figure("grouping − subtasks alone", shares["grouping"] - shares["subtasks"], "share", 0.0, at_least=True),
        *(Figure(f"{name} (paper 81 %)", shares[name], "share") for name in fixed.values()),
        Figure("reloading − grouping", shares["reloading"] - shares["grouping"], "share", 0.0, at_least=True),
    )
    return Table(("with", "makespan, ×", "share of the gain", "jobs"), rows, checks)
