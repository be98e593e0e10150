"""Line ends of uploads, whatever the blocks are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twin.traces.importers import read
from twin.traces.uploads.line_ends import LineEnds


@pytest.mark.parametrize(
    ("blocks", "text", "count"),
    [
        ([b"a\r\nb\r\n"], b"a\nb\n", 2),
        ([b"a\r", b"\nb"], b"a\nb", 2),
        ([b"a\rb\rc"], b"a\nb\nc", 3),
        ([b"a\r", b"b\r"], b"a\nb\n", 2),
        ([b"a\nb\rc\n"], b"a\nb c\n", 2),
        ([b"a\n", b"\r"], b"a\n ", 2),
        ([b"a\r"], b"a\n", 1),
        ([b"a"], b"a", 1),
        ([], b"", 0),
    ],
)
def test_lines_end_with_a_line_feed(blocks, text, count):
    ends = LineEnds()
    assert b"".join(ends.uniform(iter(blocks))) == text
    assert ends.count == count


@given(st.lists(st.binary(max_size=6)).map(lambda parts: [p for p in parts if p]))
def test_the_count_is_that_of_the_text(blocks):
    ends = LineEnds()
    text = b"".join(ends.uniform(iter(blocks)))
    assert b"\r" not in text
    assert ends.count == text.count(b"\n") + (text[-1:] not in (b"", b"\n"))


def test_a_log_with_carriage_returns_only_has_all_its_jobs(tmp_path):
    """It was read as one line with one job."""
    path = tmp_path / "mac.swf"
    path.write_text("".join(f"{n} {n} 0 60 4 -1 -1 4 -1 -1 1 1 1 -1 1 1 -1 -1\r" for n in range(1, 51)), newline="")
    report = read(path).report
    assert (report["jobs"], report["lines"]) == (50, 50)
