"""Whatever is uploaded: jobs, or one clear sentence. Never a traceback, never half a trace."""

import gzip
import io
import tarfile
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cases import cases
from twin.traces.importers import ImportRefused, Unclear, read

HEADER = "timestamp,duration,num_gpus,gpu_time,cluster\n"
ROW = "2017-10-01 00:00:45,66.0,1,66.0,11cb48\n"
GOOD = (HEADER + ROW + "2017-10-01 00:01:45,120.0,2,240.0,11cb48\n").encode()
JOB = b'{"id":"a","arrival_ms":0}\n'


def importing(tmp_path, data: bytes, name: str = "trace.csv", **options):
    path = tmp_path / "upload"
    path.write_bytes(data)
    return read(path, filename=name, **options)


def zipped(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def tarred(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        GOOD, b"\xef\xbb\xbf" + GOOD, GOOD.replace(b"\n", b"\r\n"), GOOD.rstrip(b"\n"), gzip.compress(GOOD),
        zipped(("a.csv", GOOD)), tarred(("a.csv", GOOD)), zipped(("a.csv.gz", gzip.compress(GOOD))),
        zipped(("__MACOSX/._a.csv", b"\0"), ("a.csv", GOOD)),
        tarred(("a/1.csv", (HEADER + ROW).encode()), ("a/2.csv", GOOD.replace(ROW.encode(), b""))),
    ],
    ids=["plain", "byte-order mark", "CRLF", "no last newline", "gz", "zip", "tar.gz", "gz in zip", "litter in zip",
         "two parts"],
)  # fmt: skip
def test_the_same_jobs_come_out_however_it_is_packed(tmp_path, data):
    jobs = importing(tmp_path, data).jobs
    assert [(job.id, job.arrival_ms, job.requested_workers) for job in jobs] == [("p1", 0, 1), ("p2", 60_000, 2)]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "trace.csv: the file is empty"),
        (b" \n \n", "trace.csv: the file is empty"),
        (b"PK\x03\x04 not really a zip", "the archive is damaged or incomplete"),
        (zipped(), "trace.csv: the archive has no files"),
        (zipped(("a.zip", zipped())), "a.zip: an archive inside an archive"),
        (gzip.compress(GOOD)[:-12], "the archive is damaged or incomplete"),
        (b"\x7fELF\x00\x01binary", "line 1, column 5: a NUL byte: this is a binary file"),
        ("\ufefftimestamp".encode("utf-16"), "UTF-16; save it as UTF-8"),
        (GOOD + "2017-10-01,5,1,5,café\n".encode("latin-1"), "line 4, column 21: byte 0xe9 is not UTF-8"),
        (zipped(("a.csv", GOOD), ("b.jsonl", JOB)),
         "a.csv (Derived Philly CSV) and b.jsonl (Native jobs.jsonl) both list jobs"),
        (tarred(("a.csv", GOOD), ("notes.txt", b"Dear reader")), "notes.txt: line 1: no known format matches"),
        (zipped(("a.zip", zipped(("a.csv", GOOD)))), "a.zip: an archive inside an archive"),
        (zipped(("a.tar.gz", tarred(("a.csv", GOOD)))), "a.tar.gz: an archive inside an archive"),
        (gzip.compress(gzip.compress(GOOD)), "an archive inside an archive"),
        (b"a,b,c\n1,2,3\n",
         "trace.csv: line 1: no known format matches. The file begins with 'a,b,c'"),
        (HEADER.encode(), "0 rows read, no job found"),
        (b"timestamp,duration\n1,2\n", "'num_gpus' is missing"),
        (GOOD.replace(b"cluster", b'"cluster', 1),
         "trace.csv: line 1: a cell is not terminated; check for an unclosed quote"),
    ],
    ids=["empty", "blank", "no zip", "empty zip", "empty zip in zip", "cut gzip", "binary", "UTF-16", "Latin-1",
         "zip of two", "tar of two",
         "zip in zip", "tar in zip", "gz in gz",
         "unknown", "no rows", "no column", "open quote in the header"],
)  # fmt: skip
def test_a_file_that_cannot_be_imported_is_refused_in_one_sentence(tmp_path, data, sentence):
    with pytest.raises(ImportRefused) as refusal:
        importing(tmp_path, data, format="philly_derived" if b"duration\n1" in data else "auto")
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["trace.tar.gz", "trace.tgz"])
def test_a_tar_without_members_has_no_files(tmp_path, name):
    """It consists of zeros, like a damaged file of another name."""
    with pytest.raises(ImportRefused, match=f"{name}: the archive has no files"):
        importing(tmp_path, tarred(), name)
    with pytest.raises(ImportRefused, match=r"trace.tar: a tar must be packed with gzip"):
        importing(tmp_path, gzip.decompress(tarred()), "trace.tar")
    with pytest.raises(ImportRefused, match="line 1, column 1: a NUL byte: this is a binary file"):
        importing(tmp_path, tarred())


def test_known_formats_are_listed_apart_from_the_sentence(tmp_path):
    """The page has a list to open; the command line appends them."""
    with pytest.raises(Unclear) as refusal:
        importing(tmp_path, b"Dear reader\n")
    assert refusal.value.remedy.startswith("; known formats: Acme traces (Seren, Kalos); ")
    assert len(str(refusal.value)) < 120


def test_a_gigabyte_of_zeros_is_refused_without_unpacking_it(tmp_path):
    """1 GB in 1 MB of gzip: given up at a hundred times the size."""
    block = gzip.compress(b"0" * (64 * 2**20))
    with pytest.raises(ImportRefused, match="unpacks to more than 100 times its size"):
        importing(tmp_path, block * 16)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("yesterday,66,1,66,vc", "unreadable_timestamp"),
        ("2017-10-01 00:00:45,NaN,1,66,vc", "unreadable_duration"),
        ("2017-10-01 00:00:45,inf,1,66,vc", "unreadable_duration"),
        ("2017-10-01 00:00:45,-5,1,66,vc", "run_not_positive"),
        ("2017-10-01 00:00:45,0,1,66,vc", "run_not_positive"),
        ("2017-10-01 00:00:45,66,1.5,66,vc", "unreadable_gpus"),
        ("2017-10-01 00:00:45,66,0,0,vc", "no_gpu"),
        ("2017-10-01 00:00:45,66,-1,0,vc", "no_gpu"),
        ('2017-10-01 00:00:45,66,1,66,"vc', "unreadable_quotes"),
        ('"2017-10-01 00:00:45"x,66,1,66,vc', "unreadable_quotes"),
        ('2017-10-01 00:00:45,66,1",66,vc', "unreadable_gpus"),
    ],
)
def test_a_bad_row_is_skipped_with_its_line_and_reason(tmp_path, row, reason):
    report = importing(tmp_path, (HEADER + ROW + row + "\n" + ROW).encode()).report
    assert [(skipped["line"], skipped["reason"]) for skipped in report["skipped"]] == [(3, reason)]
    assert (report["rows"], report["imported"]) == (3, 2)


def test_the_rows_between_two_stray_quotes_are_read(tmp_path):
    """40 lines; none is taken for a part of a cell that begins lines before it."""
    lines = [HEADER.strip(), *(f"2017-10-01 00:{i:02}:00,66,1,66,vc" for i in range(2, 41))]
    lines[14], lines[39] = lines[14].replace("vc", '"vc'), lines[39].replace("vc", 'vc"')
    report = importing(tmp_path, "\n".join(lines).encode()).report
    assert report["summary"] == "39 rows read, 38 jobs imported, 1 skipped"
    assert [(row["line"], row["reason"]) for row in report["skipped"]] == [(15, "unreadable_quotes")]


def test_a_quoted_cell_may_hold_what_separates_cells(tmp_path):
    data = (HEADER + '2017-10-01 00:00:45,66,1,"66,0","the ""vc"""\n').encode()
    assert importing(tmp_path, data).report["summary"] == "1 row read, 1 job imported, 0 skipped"


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (JOB + b'{"id":"b","arrival_ms":}\n', "jobs.jsonl: line 2, column 24"),
        (JOB + JOB, "line 2, column 2: job id 'a' is already used in line 1"),
        (b'{"id":"a","arrival_ms":-1}\n', "line 1, column 11: job a: arrival_ms must be an integer >= 0 ms, got -1"),
        (b'{"id":"a","arrival_ms":0,"gradient_mb":NaN}\n', "line 1, column"),
        (b'{"id":"a b","arrival_ms":0}\n', "without spaces or commas"),
        (b'{"id":"a","arrival_ms":0,"speed":1}\n', "line 1, column 26: unknown key 'speed'; known: id, arrival_ms"),
        (b'{"id":"a","arrival_ms":0,"worker":{"gpu":0.0001}}\n', "worker.gpu must have at most three decimals"),
    ],
)
def test_a_native_file_is_refused_with_line_and_column(tmp_path, data, sentence):
    with pytest.raises(ImportRefused) as refusal:
        importing(tmp_path, data, name="jobs.jsonl", format="jobs_jsonl")
    assert sentence in str(refusal.value)


def test_an_unknown_format_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(ImportRefused, match=r"unknown format .sfw.; did you mean .*jobs_jsonl, .*philly_derived"):
        importing(tmp_path, GOOD, format="sfw")


cells = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "nan", "inf", "-1", "1e400", "9" * 30, "2017-10-01 00:00:45", "1", "66.0", '"']),
)
HEADERS = {
    "philly_derived": "timestamp,duration,num_gpus,gpu_time,cluster",
    "openb_nodes": "sn,cpu_milli,memory_mib,gpu,model",
    "openb_pods": "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
    "creation_time,deletion_time,scheduled_time",
}


@settings(max_examples=cases(150, 20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(HEADERS)), st.lists(st.lists(cells, max_size=12).map(",".join), max_size=6))
def test_no_table_makes_an_importer_fail(tmp_path, format, rows):
    """Any cells under a good header: a result that accounts for every row, or a refusal."""
    path = tmp_path / "upload"
    path.write_bytes("\n".join([HEADERS[format], *rows]).encode("utf-8", "surrogatepass"))
    refused, report = "", {"rows": 0, "imported": 0, "not_selected": 0, "skipped": []}
    try:
        report = read(path, filename="f.csv", format=format).report
    except ImportRefused as refusal:
        refused = str(refusal)
    assert refused == "" or refused.startswith("f.csv: ")
    assert report["rows"] == report["imported"] + report["not_selected"] + len(report["skipped"])


@settings(max_examples=cases(150, 20), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["auto", "jobs_jsonl", *sorted(HEADERS)]), st.binary(max_size=200))
def test_no_bytes_make_an_importer_fail(tmp_path, format, data):
    path = tmp_path / "upload"
    path.write_bytes(data)
    with pytest.raises(ImportRefused):
        read(path, filename="f", format=format)
