"""One golden log, folded to the same state by twin/eventlog/fold.py here and static/js/core/store.js in store.test.js.

After a change of the event vocabulary: TWIN_WRITE_GOLDEN=1 pytest tests/twin/eventlog/test_golden_log.py, and read the
difference.
"""

import json
import os
from base64 import b64encode
from pathlib import Path

import pytest

from scheduling.model.values import Event
from tests.twin.eventlog.builders_golden import EVENTS, HOUR, MOVED
from twin.eventlog.batch_codec import encode
from twin.eventlog.fold import BAR_FIELDS, JOB_FIELDS, RunState, snapshot
from twin.eventlog.samples import SAMPLE_FIELDS, USE_FIELDS
from twin.infra.columns import pack, unpack

GOLDEN = Path(__file__).resolve().parents[2] / "fixtures" / "golden_log.json"


def fold() -> RunState:
    return RunState().feed(Event(*line) for line in EVENTS)


def golden() -> dict:
    """The frame that a browser receives, the state after it as plain data, and the same as a binary snapshot."""
    meta, columns = snapshot(fold())
    frame = encode([Event(*line) for line in EVENTS])
    state = {
        "meta": json.loads(json.dumps(meta)),
        "columns": {name: column.tolist() for name, column in columns.items()},
    }
    return {
        "frame_base64": b64encode(frame).decode(),
        "state": state,
        "snapshot_base64": b64encode(pack(meta, columns)).decode(),
    }


def test_the_golden_log_folds_to_the_golden_state() -> None:
    """What the file holds is what Python folds today; the browser's test folds the file."""
    if os.environ.get("TWIN_WRITE_GOLDEN"):
        GOLDEN.write_text(json.dumps(golden(), indent=1) + "\n")
    assert json.loads(GOLDEN.read_text()) == golden()


def test_a_moved_job_keeps_its_past_and_shows_what_was_planned() -> None:
    """Its running bars are cut where it moved, the planned one is dropped, and the old rows stay for the playhead."""
    bars = snapshot(fold())[1]
    rows = list(
        zip(*(bars[f"bars_{n}"].tolist() for n in ("server", "start_ms", "end_ms", "born_ms", "died_ms")), strict=True)
    )
    assert rows[:3] == [
        (0, HOUR, 2 * HOUR, 600_000, MOVED),
        (1, HOUR, 2 * HOUR, 600_000, MOVED),
        (0, 3 * HOUR, 4 * HOUR, 600_000, MOVED),
    ]
    assert sorted(rows[3:6]) == [
        (0, HOUR, MOVED, MOVED, -1),
        (1, HOUR, MOVED, MOVED, -1),
        (1, MOVED, 3 * HOUR, MOVED, -1),
    ]


def test_a_job_that_began_on_workers_keeps_its_start_when_its_plan_is_its_own() -> None:
    """A scheduler of another execution model goes on with it."""
    assert fold().jobs.rows[3, JOB_FIELDS.index("start_ms")] == 5 * HOUR


def test_an_older_sample_of_a_server_does_not_replace_the_newer_one() -> None:
    samples = fold().samples.rows
    assert samples.tolist() == [[9 * HOUR, -1, 500, 64, -1], [9 * HOUR - 20_000, 2000, 7250, 12_288, 415]]


FIELDS = [("jobs_", JOB_FIELDS), ("bars_", BAR_FIELDS), ("samples_", SAMPLE_FIELDS), ("use_", USE_FIELDS)]


@pytest.mark.parametrize(("prefix", "fields"), FIELDS)
def test_the_snapshot_survives_its_binary_form(prefix: str, fields: tuple[str, ...]) -> None:
    """columns.pack and unpack give back every column of the snapshot."""
    meta, columns = snapshot(fold())
    back_meta, back = unpack(pack(meta, columns))
    assert back_meta["last_seq"] == len(EVENTS)
    for name in fields:
        assert back[prefix + name].tolist() == columns[prefix + name].tolist()
