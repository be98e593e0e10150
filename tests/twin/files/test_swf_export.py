"""A row of SWF says what SWF can; a changed row makes the rows count instead of the comments."""

import io

from scheduling.workloads import generate
from tests.scheduling import tiny
from twin.files.swf import restored, row_of, swf_lines


def test_a_row_by_hand():
    """4 worker-slots of 1 s by 2 workers are 2 s; nothing else is known."""
    row = row_of(7, tiny.job(work=4, chunks=2, arrival_ms=1_600))
    assert row == b"7 2 -1 2 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"


def test_jobs_come_back_unless_a_row_was_changed():
    _, jobs = generate("oasis", num_jobs=20, num_servers=4, seed=2)
    data = b"".join(swf_lines(jobs, len(jobs)))
    assert restored(io.BytesIO(data)) == list(jobs)
    last = row_of(20, jobs[-1])
    assert restored(io.BytesIO(data.replace(last, last.replace(b"20 ", b"21 ", 1)))) is None
    assert restored(io.BytesIO(b"; a comment\n" + last)) is None
    assert restored(io.BytesIO(b"; TwinJob: nonsense\n" + last)) is None
