"""The Standard Workload Format, as its archive has it and as copies of it stray."""

import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from twin.traces.importers import ImportRefused, Upload, read, swf
from twin.traces.uploads import lines

HEADER = (
    "; Version: 2.2\n; MaxJobs: 3\n; MaxNodes: 4\n; MaxProcs: 10\n; UnixStartTime: 749458803\n; "
    "TimeZoneString: US/Pacific\n;\n"
)


def row(
    key=1,
    submit=0,
    run=10,
    procs=4,
    memory=-1,
    asked=-1,
    asked_memory=-1,
    status=1,
    user=3,
    queue=-1,
    partition=-1,
    mark=" ",
    limit=-1,
):
    cells = (
        key,
        submit,
        -1,
        run,
        procs,
        -1,
        memory,
        asked,
        limit,
        asked_memory,
        status,
        user,
        1,
        -1,
        queue,
        partition,
        -1,
        -1,
    )
    return mark.join(map(str, cells)) + "\n"


def jobs(read):
    """{id: (arrival ms, run ms, workers)}"""
    columns = (read.drafts.keys, read.drafts.arrival_ms, read.drafts.run_ms, read.drafts.workers)
    return {key: values for key, *values in zip(*(column.tolist() for column in columns), strict=True)}


def test_the_requested_time_is_the_time_limit():
    """Only where it is stated; it does not change the run time."""
    read = read_texts(swf, HEADER + row(run=10, limit=3_600) + row(2, run=10, limit=-1) + row(3, run=10, limit=0.5))
    assert read.drafts.known["limit_ms"].tolist() == [3_600_000, -1, 500]
    assert read.drafts.run_ms.tolist() == [10_000] * 3


def test_jobs_have_their_limit_and_its_origin(tmp_path):
    path = tmp_path / "log.swf"
    path.write_text(HEADER + row(run=10, limit=3_600) + row(2, run=10))
    first, second = read(path, seed=1).jobs
    assert (first.limit_ms, first.provenance["limit_ms"]) == (3_600_000, "trace")
    assert second.limit_ms is None
    assert "limit_ms" not in second.provenance


def test_a_worker_is_a_processor():
    read = read_texts(swf, HEADER + row(run=10, procs=4) + row(2, submit=5, run=2.5))
    assert jobs(read) == {"j1": [0, 10_000, 4], "j2": [5_000, 2_500, 4]}
    assert read.drafts.demand.tolist() == [[0, 1000, -1, -1, -1]] * 2
    assert read.drafts.known["ps"].tolist() == [[0, 1000, -1, -1, -1]] * 2


def test_the_header_gives_the_nodes():
    """10 processors in 4 nodes: 3, 3, 2, 2."""
    read = read_texts(swf, HEADER + row())
    assert [server.capacity[1] for server in read.cluster.servers] == [3000, 3000, 2000, 2000]
    assert "1.txt: the header states 3 jobs; the file has 1 row." in read.notes
    assert "1.txt: times count from 1993-10-01 07:00:03 UTC (the log is from US/Pacific)." in read.notes


@pytest.mark.parametrize(
    ("header", "cpus"),
    [
        ("; MaxProcs: 3\n", [1000] * 3), ("; MaxNodes: 2 (and a spare)\n", [1000] * 2),
        ("; MaxNodes: 9\n; MaxProcs: 2\n", [1000] * 2), ("; MaxNodes: -1\n; MaxProcs: none\n", None),
        ("; MaxNodes: 999999999999\n", None), ("", None),
    ],
)  # fmt: skip
def test_headers_that_say_less(header, cpus):
    cluster = read_texts(swf, header + row()).cluster
    assert (cluster and [server.capacity[1] for server in cluster.servers]) == cpus


def test_what_was_used_goes_before_what_was_asked_for():
    """Memory in KB for each processor: 2,000,000 KB are 2,048 MB."""
    read = read_texts(
        swf,
        row(1, procs=4, asked=8, memory=2_000_000, asked_memory=9)
        + row(2, procs=-1, asked=8, asked_memory=1_000_000)
        + row(3, memory=0),
    )
    assert [job[2] for job in jobs(read).values()] == [4, 8, 4]
    assert read.drafts.demand[:, 2].tolist() == [2048, 1024, -1]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row(2, run=0), "run_not_positive"), (row(2, run=-7), "run_not_positive"), (row(2, run=-1), "no_end"),
        (row(2, run=1e12), "run_too_long"), (row(2, run="x"), "unreadable_run"), (row(2, submit=-1), "no_submit"),
        (row(2, submit="NaN"), "unreadable_submit"), (row(2, submit="1e400"), "unreadable_submit"),
        (row(2, procs=-1), "no_processors"), (row(2, procs=0, asked=0), "no_processors"),
        (row(2, procs=1.5), "unreadable_procs"), (row(2, procs=10**30), "too_many_processors"),
        (row("1.5"), "unreadable_id"), (row(10**30), "unreadable_id"), (row("x"), "unreadable_id"),
        (row(1, submit=5), "duplicate_id"), ("2 3 4\n", "too_few_cells"), ("Sunday was quiet\n", "too_few_cells"),
            (row(2, run="9" * 5000), "unreadable_run"), (row(2, procs="9" * 5000), "no_processors"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out(bad, reason):
    read = read_texts(swf, HEADER + row() + bad + row(3))
    assert listed(read) == [("1.txt", 9, reason)]
    assert list(jobs(read)) == ["j1", "j3"]
    assert is_accounted(read)


def test_ids_from_zero_and_missing_ones():
    read = read_texts(swf, row(0) + row(-1) + row(-1) + row(7), row(-1))
    assert list(jobs(read)) == ["j0", "row2", "row3", "j7", "row5"]


def test_parts_of_a_job_are_merged_into_its_summary():
    """Job 1 has a summary; job 2 only parts of 10 s and 5 s with 4 processors, and 10 s with 2: 20 s of 4."""
    parts = row(2, status=2) + row(2, run=5, status=2) + row(2, procs=2, status=3)
    read = read_texts(swf, row(1, run=15) + row(1, status=2) + row(1, run=5, status=3) + parts)
    assert jobs(read) == {"j1": [0, 15_000, 4], "j2": [0, 20_000, 4]}
    assert (read.merged, len(read.skipped)) == (4, 0)
    assert is_accounted(read)


def test_copies_that_stray():
    """A header without semicolons, tabs, extra columns in some rows, blanks before, unsorted, no last line end."""
    text = (
        "JobID Submit Wait Run Procs\nMaxProcs: 6\n\n"
        + row(1, 1_500_000_100)
        + row(2, 1_500_000_000, mark="\t")
        + "   "
        + row(3, 1_500_000_050)[:-1]
        + " 1 2 x\n"
        + row(4, 1_500_000_200, mark="   ")[:-1]
    )
    read = read_texts(swf, text)
    assert {key: job[0] for key, job in jobs(read).items()} == {"j2": 0, "j3": 50_000, "j1": 100_000, "j4": 200_000}
    assert (read.rows, len(read.skipped), len(read.cluster.servers)) == (4, 0, 6)
    assert "1.txt: 2 lines before the first job: read as the header, although without semicolons." in read.notes
    assert swf.sniff(text.encode())[0]
    assert jobs(read_texts(swf, text.replace("\n", "\r\n"))) == jobs(read)


def test_logs_with_unix_starts_are_put_on_one_clock():
    """The second log begins 100 s after the first."""
    one, other = ("; UnixStartTime: 1000\n" + row(1)), ("; UnixStartTime: 1100\n" + row(2, submit=7))
    assert jobs(read_texts(swf, other, one)) == {"j1": [0, 10_000, 4], "j2": [107_000, 10_000, 4]}


def test_queues_partitions_and_users():
    known = read_texts(swf, row(1, queue=2, partition=5) + row(2, partition=5, user=-1) + row(3)).drafts.known
    assert known["group"].tolist() == ["queue-2", "partition-5", ""]
    assert known["user"].tolist() == ["3", "", "3"]


def test_chunks_change_nothing(monkeypatch):
    monkeypatch.setattr(lines, "PORTION", 2)
    monkeypatch.setattr(lines, "BLOCK", 64)
    read = read_texts(swf, HEADER + row() + row(2, run=0) + row(3) + row(1))
    assert list(jobs(read)) == ["j1", "j3"]
    assert listed(read) == [("1.txt", 9, "run_not_positive"), ("1.txt", 11, "duplicate_id")]


MACHINES = "1\tfat\t2\t16\t1.0\t64000000\n2\tthin\t1\t-1\t-1\t-1\n"


def test_a_machines_file_goes_before_the_header():
    read = read_texts(swf, MACHINES, HEADER + row())
    servers = read.cluster.servers
    assert [(server.name, server.capacity[1], server.capacity[2]) for server in servers] == [
        ("fat-1", 16_000, 65_536), ("fat-2", 16_000, 65_536), ("thin", 8_000, 32_000),
    ]  # fmt: skip
    assert (read.rows, read.merged) == (3, 2)
    assert is_accounted(read)


def test_a_machines_file_alone_is_a_cluster():
    read = read_texts(swf, "; my machines\n" + MACHINES.replace("fat", "fat one, old"))
    assert read.drafts is None
    assert read.cluster.servers[0].name == "fat-one-old-1"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("3\tfat\t1\t1\t1\t1", "duplicate_id"), ("3\tx\t0\t1\t1\t1", "no_nodes"),
        ("3\tx\t1e9\t1\t1\t1", "too_many_nodes"), ("3\tcloud\t1\t1\t1\t1", "unreadable_name"),
        ("3\tx\t1.5\t1\t1\t1", "unreadable_cell"), ("3\tx\t1\t1e400\t1\t1", "unreadable_cell"),
        ("3\tx\t1\t1\t1\t", "unreadable_cell"), ("3\tx\t1", "too_few_cells"),
    ],
)  # fmt: skip
def test_a_bad_machine_is_left_out(bad, reason, monkeypatch):
    monkeypatch.setattr(swf, "are_nodes", lambda body: True)
    read = read_texts(swf, MACHINES + bad)
    assert listed(read) == [("1.txt", 3, reason)]
    assert len(read.cluster.servers) == 3


@pytest.mark.parametrize("text", [HEADER, row(run=0), "a b c\n", ";\n", "1 2 3\n"])
def test_what_holds_no_job_is_refused(text):
    with pytest.raises(ImportRefused, match=r"1\.txt: \d rows? read, no job found"):
        read_texts(swf, text)


def test_it_fits_its_own_only():
    assert swf.sniff((HEADER + row()).encode())[0]
    assert swf.sniff(HEADER.encode())[0]
    assert swf.sniff(MACHINES.encode())[0]
    for other in (
        b"",
        b"; a comment\na,b\n1,2\n",
        b"1\t2\t3\n",
        b"job_id,num_gpu\n1,2\n",
        b"name\tcommand\t-n\t1\t5\t0.0\t1\n",
    ):
        assert not swf.sniff(other)[0]


def test_the_nasa_log(traces):
    """18,239 rows, of which 173 ran for 0 s; 474,238,015 s of processors; 128 nodes of 1."""
    result = read(traces / "swf/NASA-iPSC-1993-3.1-cln.swf.gz")
    assert (result.report["rows"], result.jobs.count) == (18_239, 18_239 - 173)
    assert result.report["skipped_counts"] == {"run_not_positive": 173}
    assert len(result.cluster.servers) == 128
    assert (
        "NASA-iPSC-1993-3.1-cln.swf: the header states 42,264 jobs; the file has 18,239 rows." in result.report["notes"]
    )


def test_the_work_of_the_nasa_log_is_kept(traces):
    import gzip

    drafts = read_texts(swf, gzip.decompress((traces / "swf/NASA-iPSC-1993-3.1-cln.swf.gz").read_bytes())).drafts
    assert int((drafts.run_ms * drafts.workers).sum()) == 474_238_015_000
    assert int(drafts.arrival_ms.max()) == 7_948_936_000
    assert len(set(drafts.known["user"])) == 69


@pytest.mark.parametrize(
    ("line", "capacity"),
    [
        ("zewura;2;80;529426432;1.0;x;", (80_000, 542_133)),  # KB
        ("zewura;2;80;512;1.0;x;", (80_000, 320_000)),  # not KB: 4 GB for each CPU
        ("0\tzewura\t2\t80\t1.0\t529426432", (80_000, 542_133)),
    ],
)
def test_machines_may_have_cells_between_semicolons(line, capacity):
    servers = read_texts(swf, HEADER + row(), line + "\n").cluster.servers
    assert [(server.name, server.capacity[1:3]) for server in servers] == [
        ("zewura-1", capacity), ("zewura-2", capacity)
    ]  # fmt: skip


def test_a_list_of_machines_that_cannot_be_read_is_set_aside_alone(tmp_path):
    """Its log is imported, with the machines of its header."""
    (tmp_path / "log.swf").write_text(HEADER + row())
    (tmp_path / "log.machines").write_text("a;b;c\nd;e;f;g;h;i;\n")
    result = read([Upload(tmp_path / name) for name in ("log.swf", "log.machines")])
    assert (len(result.jobs), len(result.cluster.servers)) == (1, 4)
    assert [(row["file"], row["line"], row["reason"]) for row in result.report["skipped"]] == [
        ("log.machines", 1, "too_few_cells"), ("log.machines", 2, "unreadable_cell"),
    ]  # fmt: skip
