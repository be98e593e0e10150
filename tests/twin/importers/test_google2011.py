"""Google's 2011 events: jobs from any parts in any order, the work of each task counted once."""

import numpy as np
import pytest

from tests.twin.importers.reading import first_bytes, is_accounted, listed, read_texts
from twin.traces.importers import ImportRefused, Upload, google2011, read
from twin.traces.uploads import lines

AFTER = 2**63 - 1
SUBMIT, SCHEDULE, EVICT, FAIL, FINISH, KILL, LOST, PENDING, RUNNING = range(9)


def job(time, key, event, kind=1, info="", user="u"):
    return f"{time},{info},{key},{event},{user},{kind},name,logical\n"


def task(time, key, index, event, machine="", kind=1, cpu="0.5", ram="0.25", disk="0.001"):
    return f"{time},,{key},{index},{machine},{event},u,{kind},9,{cpu},{ram},{disk},0\n"


def run_of(read, key):
    """(arrival ms, run ms, workers) of a job."""
    at = read.drafts.keys.tolist().index(key)
    return int(read.drafts.arrival_ms[at]), int(read.drafts.run_ms[at]), int(read.drafts.workers[at])


JOBS = job(1_000_000, 7, SUBMIT) + job(2_000_000, 7, SCHEDULE) + job(9_000_000, 7, FINISH)
TASKS = (
    task(1_000_000, 7, 0, SUBMIT) + task(1_000_000, 7, 1, SUBMIT)
    + task(2_000_000, 7, 0, SCHEDULE, 5) + task(2_000_000, 7, 1, SCHEDULE, 6)
    + task(3_000_000, 7, 1, EVICT, 6) + task(4_000_000, 7, 1, SUBMIT)
    + task(5_000_000, 7, 1, SCHEDULE, 6) + task(6_000_000, 7, 0, FINISH, 5) + task(8_000_000, 7, 1, KILL, 6)
)  # fmt: skip


def test_job_events_alone_run_from_schedule_to_the_last_end_with_sampled_workers():
    read = read_texts(google2011, JOBS, seed=3)
    arrival, run, workers = run_of(read, 7)
    assert (arrival, run) == (0, 7000)
    assert 1 <= workers <= 30
    assert read.drafts.origins["requested_workers"] == "drawn"
    assert run_of(read_texts(google2011, job(1, 6, SUBMIT) + JOBS, seed=3), 7)[2] == workers
    assert (read.rows, read.merged) == (3, 2)


def test_the_work_of_a_job_is_the_time_of_all_its_tasks():
    """Task 0 runs for 4 s, task 1 for 1 s and, in its second life, 3 s: 8 s of 2 workers."""
    for texts in ((JOBS, TASKS), (TASKS, JOBS), (TASKS,)):
        read = read_texts(google2011, *texts)
        assert run_of(read, 7) == (0, 4000, 2)
        assert is_accounted(read)


def test_parts_come_in_any_order():
    """A submission, a start and an end lie in three parts of each kind."""
    events = (JOBS.splitlines(True), TASKS.splitlines(True))
    parts = [*events[0], *events[1]]
    rng = np.random.default_rng(1)
    for _ in range(5):
        rng.shuffle(parts)
        assert run_of(read_texts(google2011, *parts), 7) == (0, 4000, 2)


def test_the_same_part_twice_counts_once():
    assert run_of(read_texts(google2011, JOBS, TASKS, TASKS), 7) == (0, 4000, 2)


def test_lives_that_the_parts_cut_are_dropped():
    """Task 2 ends without a start, task 3 starts without an end; both are workers, neither adds work."""
    cut = task(2_500_000, 7, 2, FAIL, 1) + task(2_500_000, 7, 3, SCHEDULE, 1) + task(AFTER, 7, 3, FINISH, 1)
    read = read_texts(google2011, JOBS, TASKS + cut)
    assert run_of(read, 7) == (0, 2000, 4)
    assert "1 start without an end, 1 end without a start" in read.notes[0]


def test_updates_and_gaps_in_indices_change_nothing():
    """Index 40 000 is one worker; UPDATE_PENDING and UPDATE_RUNNING are no ends."""
    events = task(1, 8, 40_000, SUBMIT) + task(2_000_001, 8, 40_000, SCHEDULE) + task(3_000_000, 8, 40_000, RUNNING)
    events += task(4_000_000, 8, 40_000, PENDING) + task(5_000_001, 8, 40_000, LOST)
    assert run_of(read_texts(google2011, events), 8) == (0, 3000, 1)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (job(0, 9, SUBMIT) + job(0, 9, SCHEDULE) + job(5, 9, KILL), "before_window"),
        (job(5, 9, SCHEDULE) + job(9, 9, KILL), "no_submit"),
        (job(5, 9, SUBMIT), "no_start"),
        (job(5, 9, SUBMIT) + job(6, 9, SCHEDULE), "no_end"),
        (job(5, 9, SUBMIT) + job(6, 9, SCHEDULE) + job(AFTER, 9, FINISH), "no_end"),
        (job(5, 9, SUBMIT) + job(6, 9, SCHEDULE) + job(6, 9, FINISH), "run_not_positive"),
    ],
)
def test_a_job_left_out_is_listed_once_at_its_first_row(rows, reason):
    read = read_texts(google2011, JOBS, rows)
    assert listed(read) == [("2.txt", 1, reason)]
    assert is_accounted(read)
    assert read.skipped.listed[0]["value"] == "9"


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (
            task(5, 9, 0, SCHEDULE) + task(6, 9, 0, SUBMIT) + task(7, 9, 0, SCHEDULE) + task(8, 9, 0, FINISH),
            "before_window",
        ),
        (task(0, 9, 0, SUBMIT) + task(0, 9, 0, SCHEDULE) + task(8, 9, 0, FINISH), "before_window"),
        (task(5, 9, 0, SUBMIT), "no_start"),
        (task(5, 9, 0, SUBMIT) + task(6, 9, 0, SCHEDULE), "no_end"),
    ],
)
def test_tasks_alone_must_begin_in_the_parts(rows, reason):
    read = read_texts(google2011, TASKS, rows)
    assert listed(read) == [("2.txt", 1, reason)]
    assert is_accounted(read)


def test_a_job_without_tasks_is_left_out_where_there_is_a_task_table():
    read = read_texts(google2011, JOBS + JOBS.replace(",7,", ",70,"), TASKS)
    assert listed(read) == [("1.txt", 4, "no_tasks")]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("x,,7,0,u,1,n,l\n", "unreadable_time"), (",,7,0,u,1,n,l\n", "unreadable_time"),
        ("-5,,7,0,u,1,n,l\n", "unreadable_time"), ("1e400,,7,0,u,1,n,l\n", "unreadable_time"),
        ("9223372036854775808,,7,0,u,1,n,l\n", "unreadable_time"), (f"{'9' * 5000},,7,0,u,1,n,l\n", "unreadable_time"),
        ("5,,,0,u,1,n,l\n", "unreadable_job_id"), ("5,,NaN,0,u,1,n,l\n", "unreadable_job_id"),
        ("5,,True,0,u,1,n,l\n", "unreadable_job_id"), ("5,,7,9,u,1,n,l\n", "unknown_status"),
        ("5,,7,,u,1,n,l\n", "unknown_status"), ("5,,7,-1,u,1,n,l\n", "unknown_status"),
        ("5,,7,0,u,1,n\n", "too_few_cells"), ("   \n", "too_few_cells"), ("5,,7,0,u,1,n,l,more\n", "too_many_cells"),
        ('5,,7,"0,u,1,n,l\n', "unknown_status"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out_and_harms_no_other(row, reason):
    """Ids beyond 2^53 stay exact beside it, though a column with a gap would be read as floats."""
    big = 2**62 + 1
    read = read_texts(google2011, JOBS.replace(",7,", f",{big},") + row)
    assert listed(read) == [("1.txt", 4, reason)]
    assert read.drafts.keys.tolist() == [big]
    assert is_accounted(read)


def test_a_task_index_beyond_every_job_is_left_out():
    read = read_texts(google2011, TASKS + task(1_000_000, 7, 2**31, SUBMIT) + task(1_000_000, 7, "", SUBMIT))
    assert [reason for _, _, reason in listed(read)] == ["unreadable_task_index"] * 2


def test_a_worker_has_the_most_that_a_task_asks_for():
    """Half of 64 vCPUs, a quarter of 256 GB; a cell that is no fraction is sampled."""
    demand = read_texts(
        google2011, TASKS + task(1_000_000, 7, 0, SUBMIT, cpu="0.25", ram="", disk="1e400")
    ).drafts.demand[0]
    assert demand.tolist() == [-1, 32_000, 64_000, 4_000, -1]
    assert read_texts(google2011, TASKS.replace("0.5,", "9" * 5000 + ",")).drafts.demand[0, 1] == -1
    zero = TASKS.replace("0.5,0.25,0.001", "0,nan,-1")
    assert read_texts(google2011, zero).drafts.demand[0].tolist() == [-1, 0, -1, -1, -1]


def test_the_class_decides_the_utility():
    texts = [
        job(n, n, SUBMIT, kind) + job(n + 9, n, SCHEDULE, kind) + job(10**7, n, FINISH, kind)
        for n, kind in enumerate((0, 1, 2, 3, "", 4), 1)
    ]
    drafts = read_texts(google2011, *texts).drafts
    assert drafts.known["utility_kind"].tolist() == [0, 1, 1, 2, -1, -1]
    assert drafts.known["user"].tolist() == ["u"] * 6


def test_line_ends_and_filled_in_rows():
    """CRLF, blank lines, no last line end, missing-info 2: the same job."""
    text = (job(1_000_000, 7, SUBMIT, info=2) + "\n" + job(2_000_000, 7, SCHEDULE) + job(9_000_000, 7, FINISH)).replace(
        "\n", "\r\n"
    )
    assert run_of(read_texts(google2011, text.removesuffix("\r\n")), 7)[:2] == (0, 7000)


def test_chunks_change_nothing(monkeypatch):
    monkeypatch.setattr(lines, "PORTION", 2)
    monkeypatch.setattr(lines, "BLOCK", 50)
    assert run_of(read_texts(google2011, JOBS, TASKS), 7) == (0, 4000, 2)
    read = read_texts(google2011, TASKS + "x\n")
    assert listed(read) == [("1.txt", 10, "too_few_cells")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\n", "1.txt: line 1: 2 cells; job_events have 8 and task_events 13"),
        (job(0, 1, SUBMIT), "1 row read, no job found; line 1: before window '1'"),
        ("x" * (2**20 + 2), "longer than 1,048,576 bytes"),
    ],
)
def test_what_holds_no_job_is_refused(text, sentence):
    with pytest.raises(ImportRefused, match=sentence.replace("(", r"\(")):
        read_texts(google2011, text if "," in text else JOBS + text)


def test_it_fits_events_only():
    assert google2011.sniff(JOBS.encode())[0]
    assert google2011.sniff(TASKS.encode())[0]
    assert not google2011.sniff(b"a,b,c,d,e,f,g,h\n1,2,3,4,5,6,7,8\n")[0]
    assert not google2011.sniff(b"")[0]
    assert not google2011.sniff(b"timestamp,duration\n")[0]


@pytest.fixture(scope="module")
def parts(traces):
    return {kind: sorted((traces / "google2011" / kind).glob("*.gz")) for kind in ("job_events", "task_events")}


def test_the_job_parts_give_every_job_that_ends(parts):
    """8,469 jobs: 3,986 from before the window; 4,242 of the others have SUBMIT, SCHEDULE and an end."""
    result = read([Upload(path) for path in reversed(parts["job_events"])])
    assert (result.report["rows"], result.jobs.count) == (21_342, 4_242)
    assert result.report["skipped_counts"] == {"before_window": 3_986, "no_end": 239, "no_start": 2}
    assert result.report["merged"] == 21_342 - 8_469
    assert result.report["provenance"]["requested_workers"] == {"drawn": 4_242}


def test_all_parts_in_any_order_give_the_same_jobs(parts):
    """375,160 rows; 105,056 tasks of 4,105 jobs, 3,986 of the 8,469 jobs from before the window."""
    paths = [*parts["job_events"], *parts["task_events"]]
    one, other = (read([Upload(path) for path in order]) for order in (paths, paths[::-1]))
    report = one.report
    assert report["rows"] == 375_160 == report["imported"] + report["merged"] + sum(report["skipped_counts"].values())
    assert one.report["skipped_counts"] == other.report["skipped_counts"]
    assert report["skipped_counts"]["before_window"] == 3_986
    assert (one.jobs.count, one.preview) == (other.jobs.count, other.preview)


def test_the_work_of_the_task_parts_is_kept(parts):
    """Against a plain loop over the rows of one part."""
    text = first_bytes(parts["task_events"][2], 3_000_000).rsplit(b"\n", 1)[0].decode()
    started, total, begun, indices = {}, {}, {}, {}
    for line in text.splitlines():
        time, _, key, index, _, event, *_ = line.split(",")
        begun.setdefault(int(key), event)
        indices.setdefault(int(key), set()).add(index)
        if event == "1":
            started[key, index] = int(time)
        elif event in "23456" and (key, index) in started:
            total[int(key)] = total.get(int(key), 0) + int(time) - started.pop((key, index))
    drafts = read_texts(google2011, text).drafts
    whole = {key for key, event in begun.items() if event == "0" and total.get(key)}
    assert set(drafts.keys.tolist()) == whole
    assert len(whole) > 100
    for key, run, workers in zip(drafts.keys.tolist(), drafts.run_ms.tolist(), drafts.workers.tolist(), strict=True):
        assert workers == len(indices[key])
        assert run * workers == pytest.approx(total[key] / 1000, abs=workers)
