"""One golden log, folded by twin/state.py here and by static/js/store.js in tests/js/store.test.js to the same state.

After a change of the event vocabulary: TWIN_WRITE_GOLDEN=1 pytest tests/twin/test_golden_log.py, and read the difference.
"""

import json
import os
from base64 import b64encode
from itertools import chain
from pathlib import Path

import pytest

from scheduling.model import Event
from twin.columns import pack, unpack
from twin.state import BAR_FIELDS, JOB_FIELDS, RunState, snapshot

GOLDEN = Path(__file__).resolve().parents[1] / "fixtures" / "golden_log.json"
HOUR = 3_600_000
MOVED = HOUR + 1_800_000
PRICES = [1.5, 0.25, 0.01, 0.001, 0.5, None, None, None, None, None]  # [site][resource]: no price in the cloud

# Jobs on two servers: job 0 is admitted, then moved while it runs; job 1 is rejected; job 2 starts and is unfinished; the plan of job 3
# names lanes, on one of which job 4, with its parameter server in the cloud, comes between.
STARTED = {"scheduler": "oasis", "parameters": {}, "seed": 7, "jobs": 5, "servers": 2, "slot_ms": HOUR, "horizon_slots": 8}
PLAN = [
    [0, 0, 0, HOUR, 2 * HOUR, 2, -1, -1, -1],
    [0, 1, 1, HOUR, 2 * HOUR, 1, -1, -1, -1],
    [0, 0, 0, 3 * HOUR, 4 * HOUR, 2, -1, -1, -1],
]
EVENTS: list[list] = [
    [1, 0, "run_started", STARTED],
    [2, 0, "priced", {"slots": "all", "low": PRICES, "mean": PRICES, "high": PRICES}],
    [3, 600_000, "job_arrived", {"job": 0}],
    [4, 600_000, "decided", {"job": 0, "kind": "admitted", "code": "payoff_positive", "values": {"payoff": 3.5}}],
    [5, 600_000, "planned", {"job": 0, "finish_ms": 4 * HOUR, "bars": PLAN}],
    [
        6,
        600_000,
        "priced",
        {"slots": [1, 3], "low": PRICES * 2, "mean": [2.0] * 10 + [3.0] * 10, "high": [4.0] * 10 + [5.0] * 10},
    ],
    [7, 700_000, "job_arrived", {"job": 1}],
    [8, 700_000, "decided", {"job": 1, "kind": "rejected", "code": "payoff_not_positive", "values": {"payoff": -1.25}}],
    [9, HOUR + 900_000, "job_arrived", {"job": 2}],
    [10, MOVED, "decided", {"job": 0, "kind": "moved", "code": "in_order", "values": {}}],
    [11, MOVED, "planned", {"job": 0, "finish_ms": 3 * HOUR, "bars": [[0, 0, 1, MOVED, 3 * HOUR, 3, 1, 2, 4]]}],
    [12, 2 * HOUR, "decided", {"job": 2, "kind": "started", "code": "in_order", "values": {}}],
    [13, 2 * HOUR, "planned", {"job": 2, "finish_ms": None, "bars": [[2, 0, 0, 2 * HOUR, 5 * HOUR, 1, -1, -1, -1]]}],
    [14, 3 * HOUR, "job_completed", {"job": 0, "utility": 41.25}],
    [15, 5 * HOUR, "job_arrived", {"job": 3}],
    [
        16,
        5 * HOUR,
        "lanes_planned",
        {
            "lanes": [[0, 0, 0], [0, 0, 1], [1, 1, 0]],
            "jobs": [[3, 5 * HOUR, 8 * HOUR]],
            "bars": [
                [3, 0, 0, 5 * HOUR, 7 * HOUR, 1, 0, 0, -1],
                [3, 0, 0, 5 * HOUR, 6 * HOUR, 1, 1, 1, -1],
                [3, 0, 0, 6 * HOUR, 8 * HOUR, 1, 1, 2, -1],
                [3, 1, 1, 5 * HOUR, 8 * HOUR, 1, 0, -1, -1],
            ],
        },
    ],
    [17, 5 * HOUR + 600_000, "job_arrived", {"job": 4}],
    [
        18,
        5 * HOUR + 600_000,
        "lanes_planned",
        {
            "lanes": [[0, 0, 1], [1, -2, 4]],
            "jobs": [[3, 5 * HOUR, 9 * HOUR], [4, 5 * HOUR + 600_000, 7 * HOUR]],
            "bars": [
                [4, 0, 0, 5 * HOUR + 600_000, 7 * HOUR, 1, 1, 0, -1],
                [3, 0, 0, 7 * HOUR, 9 * HOUR, 1, 1, 2, -1],
                [4, 1, -2, 5 * HOUR + 600_000, 7 * HOUR, 1, -1, -1, -1],
            ],
        },
    ],
    [19, 8 * HOUR, "grouped", {"group": 0, "servers": [0], "jobs": [3, 4], "machines": 1, "iteration_ms": 9.5}],
    [20, 8 * HOUR, "grouped", {"group": 1, "servers": [1], "jobs": [2], "machines": 1, "iteration_ms": None}],
    [21, 9 * HOUR, "grouped", {"group": 0, "servers": [], "jobs": [], "machines": 0, "iteration_ms": None}],
    [
        22,
        9 * HOUR,
        "edited",
        {
            "phase": 1,
            "said": ["Remove server-1"],
            "scheduler": "oasis",
            "parameters": {},
            "kept": 1,
            "displaced": [],
            "offered": 0,
        },
    ],
    [24, 9 * HOUR, "priced", {"slots": "all", "low": PRICES, "mean": PRICES, "high": PRICES}],
    [25, 9 * HOUR, "priced", {"slots": [9], "low": PRICES[::-1], "mean": PRICES[::-1], "high": PRICES[::-1]}],
    [26, 9 * HOUR, "run_finished", {}],
]


def fold() -> RunState:
    return RunState().feed(Event(*line) for line in EVENTS)


def flat(kind: str, data: dict) -> dict:
    """Data as frames carry it."""
    matrices = {"planned": ("bars",), "lanes_planned": ("lanes", "jobs", "bars")}.get(kind, ())
    return {name: list(chain(*value)) if name in matrices else value for name, value in data.items()}


def golden() -> dict:
    """The frames that a browser receives, the state after them as plain data, and the same as a binary snapshot."""
    meta, columns = snapshot(fold())
    lines = [[seq, at_ms, kind, flat(kind, data)] for seq, at_ms, kind, data in EVENTS]
    state = {"meta": json.loads(json.dumps(meta)), "columns": {name: column.tolist() for name, column in columns.items()}}
    return {"events": lines, "state": state, "snapshot_base64": b64encode(pack(meta, columns)).decode()}


def test_the_golden_log_folds_to_the_golden_state() -> None:
    """What the file holds is what Python folds today; the browser's test folds the file."""
    if os.environ.get("TWIN_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n")
    assert json.loads(GOLDEN.read_text()) == golden()


def test_a_moved_job_keeps_its_past_and_shows_what_was_planned() -> None:
    """Its running bars are cut where it moved, the planned one is dropped, and the old rows stay for the playhead."""
    bars = snapshot(fold())[1]
    rows = list(zip(*(bars[f"bars_{n}"].tolist() for n in ("server", "start_ms", "end_ms", "born_ms", "died_ms")), strict=True))
    assert rows[:3] == [
        (0, HOUR, 2 * HOUR, 600_000, MOVED),
        (1, HOUR, 2 * HOUR, 600_000, MOVED),
        (0, 3 * HOUR, 4 * HOUR, 600_000, MOVED),
    ]
    assert sorted(rows[3:6]) == [(0, HOUR, MOVED, MOVED, -1), (1, HOUR, MOVED, MOVED, -1), (1, MOVED, 3 * HOUR, MOVED, -1)]


@pytest.mark.parametrize(("prefix", "fields"), [("jobs_", JOB_FIELDS), ("bars_", BAR_FIELDS)])
def test_the_snapshot_survives_its_binary_form(prefix: str, fields: tuple[str, ...]) -> None:
    """columns.pack and unpack give back every column of the snapshot."""
    meta, columns = snapshot(fold())
    back_meta, back = unpack(pack(meta, columns))
    assert back_meta["last_seq"] == 26
    for name in fields:
        assert back[prefix + name].tolist() == columns[prefix + name].tolist()
