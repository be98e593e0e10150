"""How much data should lie on disk."""

from __future__ import annotations

from experiments import Figure, Options, Table
from experiments._grid import play
from experiments._groups import spans, table1
from scheduling.colocation.memory.hill_climbing import adapted
from scheduling.colocation.memory.usage import Data, Ground, fixed
from scheduling.colocation.workload import COMBINATIONS

TITLE = "iteration time of the 8 combinations on 32 machines by the share of input on disk; ratios in a whole run"
PAPER = "Harmony, Section V-G"
CLAIM = (
    "the best fixed ratio is 0.3 with 52.9 s, an adaptive ratio 44.3 s; in the main run ratios "
    "are 0.34 on average, from 0.11 to 1"
)
SETTING = (
    "a memory model in which every iteration reads all input, as required for the curve of the "
    "paper; in the main run a tenth of it"
)
GROUND = Ground(32, 32.0, 0.00015)


def run(options: Options) -> Table:
    data = [Data(row.input_gb, row.model_gb, 1.0) for row in COMBINATIONS]
    comm = [row.comm_s * 1000 for row in COMBINATIONS]
    comp = [row.comm_s * row.share / (1 - row.share) * 1000 * 16 / GROUND.machines for row in COMBINATIONS]
    times = {share / 20: fixed(comp, comm, data, GROUND, share / 20).pace_ms / 1000 for share in range(21)}
    best = min(times, key=lambda share: times[share])
    own = adapted(comp, comm, data, GROUND).pace_ms / 1000
    held = [
        (ratio, end - start)
        for seed in options.seeds_or(2)
        for start, end, group in spans(play(table1(seed), ("harmony", {}))) for ratio in group["disk_ratios"]
    ]  # fmt: skip
    ratios = [ratio for ratio, _ in held]
    # over the time of jobs in groups
    average = sum(ratio * lasted for ratio, lasted in held) / sum(lasted for _, lasted in held)
    rows = (
        *((f"{share:g}", seconds) for share, seconds in times.items() if round(share * 20) % 2 == 0),
        ("adapted", own),
    )
    checks = (
        Figure("best fixed ratio, at least", best, "", 0.2, at_least=True),
        Figure("best fixed ratio, at most", best, "", 0.45),
        Figure("adaptive / best fixed (paper 0.84)", own / times[best], "x", 1.0),
        Figure("mean ratio in a whole run (paper 0.34), at least", average, "", 0.15, at_least=True),
        Figure("same, upper limit", average, "", 0.55),
        Figure("smallest ratio in a whole run (paper 0.11)", min(ratios), ""),
        Figure("largest ratio in a whole run (paper 1)", max(ratios), ""),
    )
    return Table(("on disk", "seconds"), tuple(rows), checks)
