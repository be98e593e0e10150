"""What holds for every format: its own files fit it alone, and no input makes it fail but with a clear sentence."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.twin.importers.samples import MAPPING, SAMPLES
from twin.traces.importers import ImportRefused, Upload, formats, parse, read, sniff
from twin.traces.importing.scan import summary_of

CELLS = [
    "",
    "nan",
    "inf",
    "-1",
    "0",
    "1e400",
    "-0.5",
    "9" * 30,
    "2017-10-01 00:00:45",
    "1",
    "66.0",
    '"',
    "None",
    "null",
    "é",
    "a b",
    "x" * 300,
    "%s",
    "=1+1",
]
JOINTS = [b",", b"\t", b"|", b" ", b"\n", b";", b'"', b"{", b"}", b"[", b"]", b":", b"\r\n", b"\\", b"\xff", b"\0"]


def test_there_is_a_sample_of_every_format():
    assert set(SAMPLES) == set(formats())


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"mapped_csv"}))
def test_a_file_of_a_format_fits_it_and_no_other(name):
    for data in SAMPLES[name]:
        assert [match.format for match in sniff(data) if match.fits] == [name], data


@pytest.mark.parametrize("ending", ["plain", "CRLF", "no last newline", "byte-order mark"])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_good_file_is_read_whatever_ends_its_lines(tmp_path, name, ending):
    """The same jobs and machines, whatever the line ends are."""
    plain = _read(tmp_path, name, SAMPLES[name])
    changed = _read(tmp_path, name, [_ended(data, ending) for data in SAMPLES[name]])
    assert list(plain.jobs) == list(changed.jobs)
    assert (plain.cluster and plain.cluster.servers) == (changed.cluster and changed.cluster.servers)
    assert plain.jobs or plain.cluster
    assert _accounted(plain.report)


def _ended(data: bytes, ending: str) -> bytes:
    if ending == "CRLF":
        return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if ending == "no last newline":
        return data.rstrip(b"\r\n")
    return b"\xef\xbb\xbf" + data if ending == "byte-order mark" else data


def _uploads(folder, parts) -> list[Upload]:
    uploads = []
    for i, data in enumerate(parts):
        path = folder / f"part{i}"
        path.write_bytes(data)
        uploads.append(Upload(path, f"part{i}.csv"))
    return uploads


def _read(folder, name, parts, format="auto"):
    mapping = MAPPING if name == "mapped_csv" else None
    return read(_uploads(folder, parts), format=format, mapping=mapping, seed=3)


def _accounted(report) -> bool:
    """Machines may come several from a row, so only lists of jobs add up."""
    skipped = sum(report["skipped_counts"].values())
    return report["rows"] <= report["imported"] + report["merged"] + report["not_selected"] + skipped


WHOLE = {"cluster_spec", "jobs_jsonl", "jobs_swf"}  # have one row, or are refused as a whole


LINES = [name for name, module in formats().items() if getattr(module, "ROW_IS_LINE", True)]


@pytest.mark.parametrize("name", sorted({*LINES, "philly"} - WHOLE))
def test_every_line_is_accounted_for_whatever_quotes_stand_in_it(tmp_path, name):
    """40 more lines: the last cell of the first begins with a quote, that of the last ends with one."""
    parts = SAMPLES[name]
    before = _read(tmp_path, name, parts, name).report["rows"]
    for place, data in enumerate(parts):
        *lines, last = data.rstrip(b"\r\n").split(b"\n")
        if data.startswith(b"["):
            continue  # JSON
        mark = next(mark for mark in (b",", b"\t", b"|", b";", b" ") if mark in last)
        open_ended = mark.join([*last.split(mark)[:-1], b'"' + last.split(mark)[-1]])
        text = b"\n".join([*lines, last, open_ended, *[last] * 38, last + b'"', b""])
        found = _read(tmp_path, name, [*parts[:place], text, *parts[place + 1 :]], name)
        assert found.report["rows"] == before + 40


@st.composite
def damaged(draw):
    """(format, files): good files with pieces cut, doubled, swapped or replaced."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    parts = []
    for data in draw(st.permutations(SAMPLES[name])):
        for _ in range(draw(st.integers(0, 3))):
            a = draw(st.integers(0, len(data)))
            b = min(len(data), a + draw(st.integers(0, 40)))
            piece = draw(
                st.one_of(
                    st.sampled_from(CELLS).map(str.encode),
                    st.sampled_from(JOINTS),
                    st.just(data[a:b] * 2),
                    st.binary(max_size=8),
                )
            )
            data = data[:a] + piece + data[b:]
        parts.append(data)
    return name, draw(st.sampled_from([name, "auto"])), parts[: draw(st.integers(1, len(parts)))]


@given(damaged())
@settings(
    max_examples=cases(1_000, 100), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
def test_no_damage_gives_a_traceback_a_hang_or_half_a_trace(tmp_path, case):
    """A result that accounts for its rows, whose jobs are good jobs by arrival; or one sentence that names the file."""
    name, format, parts = case
    refused = ""
    try:
        result = _read(tmp_path, name, parts, format if name != "mapped_csv" else "auto")
        jobs = list(result.jobs)
        assert [job.arrival_ms for job in jobs] == sorted(job.arrival_ms for job in jobs)
        assert len({job.id for job in jobs}) == len(jobs)
        assert jobs or result.cluster
        assert _accounted(result.report)
        mapping = MAPPING if name == "mapped_csv" else None
        found = summary_of(parse(_uploads(tmp_path, parts), format=format, mapping=mapping, seed=3), 3, 300_000)
        assert sum(found["arrivals"]["counts"]) == found["jobs"]
    except ImportRefused as refusal:
        refused = str(refusal)
    assert "\n" not in refused
    assert not refused or "part" in refused or "mapping" in refused
