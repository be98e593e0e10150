"""Helios: jobs of cluster_log.csv, and a capacity that changes by the day."""

from itertools import pairwise

import pytest

from twin.traces.importers import ImportRefused
from twin.traces.importing.parsing import parse
from twin.traces.uploads.openfile import Upload

HEADER = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
# The two rows that the publisher's documentation prints.
FIRST = "1425511,uXBbc,vcJkd,1,1,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:01,2020-06-10 04:55:09,36848,0\n"
SECOND = "1425512,uVMrF,vchbv,4,16,1,FAILED,2020-06-09 18:41:27,2020-06-09 18:41:27,2020-06-09 18:45:36,249,0\n"
DAY = 86_400_000


def found(tmp_path, **files):
    uploads = []
    for name, text in files.items():
        path = tmp_path / name
        path.write_text(text)
        uploads.append(Upload(path, f"{name}.csv"))
    (part,) = parse(uploads)
    return part.read


def row(
    name="1",
    gpus="2",
    cpus="8",
    state="COMPLETED",
    start="2020-06-09 18:50:00",
    end="2020-06-09 19:00:00",
    duration="600",
    submit="2020-06-09 18:45:00",
):
    return f"{name},u,vc,{gpus},{cpus},1,{state},{submit},{start},{end},{duration},0\n"


def gpus_at(cluster, at_ms):
    return sum(s.capacity[0] for s in cluster.servers if not any(begin <= at_ms < end for begin, end in s.away)) // 1000


def test_the_published_rows_are_jobs(tmp_path):
    """Run 36,848 s and 249 s, 26 s apart; 4 GPUs with 16 CPUs are 4 workers with 4 CPUs."""
    drafts = found(tmp_path, log=HEADER + FIRST + SECOND).drafts
    assert drafts.keys.tolist() == ["1425511", "1425512"]
    assert drafts.arrival_ms.tolist() == [0, 26_000]
    assert drafts.run_ms.tolist() == [36_848_000, 249_000]
    assert drafts.workers.tolist() == [1, 4]
    assert drafts.demand.tolist() == [[1000, 1000, -1, -1, -1], [1000, 4000, -1, -1, -1]]
    assert drafts.known["group"].tolist() == ["vcJkd", "vchbv"]
    assert drafts.known["user"].tolist() == ["uXBbc", "uVMrF"]


def test_cpu_jobs_are_counted_whatever_else_is_wrong_with_them(tmp_path):
    result = found(tmp_path, log=HEADER + row("1", gpus="0") + row("2", gpus="0", start="", end="") + FIRST)
    assert result.skipped.counts == {"no_gpu": 2}
    assert "Not imported: 2 CPU jobs (gpu_num 0)." in result.notes


@pytest.mark.parametrize("state", ["COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "SUSPENDED"])
def test_every_listed_state_is_a_job(tmp_path, state):
    assert len(found(tmp_path, log=HEADER + row(state=state)).drafts) == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row("9", state="PENDING", start="", end="", duration=""), "pending"),
        (row("9", state="RUNNING", end="", duration=""), "no_end"),
        (row("9", start=""), "pending"),
        (row("9", end="None"), "no_end"),
        (row("9", state="EXPLODED"), "unknown_status"),
        (row("9", duration="0", end="2020-06-09 18:50:00"), "run_not_positive"),
        (row("9", duration="-4"), "run_not_positive"),
        (row("9", duration="1e30"), "run_too_long"),
        (row("9", duration="NaN"), "unreadable_duration"),
        (row("9", start="yesterday"), "unreadable_start_time"),
        (row("9", submit=""), "unreadable_submit_time"),
        (row("9", gpus="-1"), "unreadable_gpu_num"),
        (row("9", gpus="1.5"), "unreadable_gpu_num"),
        (row("9", gpus="1e9"), "too_many_gpus"),
        (row("9", cpus="1e400"), "unreadable_cpu_num"),
        (row("1425511"), "duplicate_id"),
        (row("a b"), "unreadable_name"),
        ("9,u,vc\n", "too_few_cells"),
    ],
)  # fmt: skip
def test_a_bad_row_is_skipped_with_its_line_and_reason(tmp_path, bad, reason):
    result = found(tmp_path, log=HEADER + FIRST + bad + SECOND)
    assert [(skip["line"], skip["reason"]) for skip in result.skipped.listed] == [(3, reason)]
    assert (result.rows, len(result.drafts)) == (3, 2)


def test_an_empty_duration_is_taken_from_the_times(tmp_path):
    result = found(tmp_path, log=HEADER + row(duration="") + row("2", duration="599"))
    assert result.drafts.run_ms.tolist() == [600_000, 599_000]
    assert any("they differ in 1 of 2 jobs" in note for note in result.notes)


def test_columns_may_stand_in_another_order(tmp_path):
    names = HEADER.strip().split(",")
    cells = FIRST.strip().split(",")
    text = ",".join(["extra", *reversed(names)]) + "\n" + ",".join(["x", *reversed(cells)]) + "\n"
    assert found(tmp_path, log=text).drafts.run_ms.tolist() == [36_848_000]


def test_logs_of_two_clusters_may_share_ids(tmp_path):
    result = found(tmp_path, earth=HEADER + row("1"), venus=HEADER + row("1"))
    assert sorted(result.drafts.keys) == ["1-1", "2-1"]


def test_capacity_follows_the_real_file_day_by_day(traces):
    """784 GPUs on the first day, 1,208 on the last, 784 to 1,232; every day's servers add up to its total."""
    (part,) = parse(traces / "helios/Earth_gpu_number.csv")
    lines = (traces / "helios/Earth_gpu_number.csv").read_text().split()
    totals = [int(line.rsplit(",", 1)[1]) for line in lines[1:]]
    seen = [gpus_at(part.read.cluster, day * DAY + DAY // 2) for day in range(181)]
    assert seen == totals
    assert (seen[0], seen[-1], min(seen), max(seen)) == (784, 1208, 784, 1232)
    assert sum(now != before for before, now in pairwise(seen)) == 12
    assert part.read.rows == 181
    assert not any(note.startswith("Warning") for note in part.read.notes)


def test_a_server_is_away_on_the_days_without_it(tmp_path):
    """12 GPUs, then 20, then none: servers of 8, 4 and 8; days hold until the next one, the last one on and on."""
    cluster = found(tmp_path, days="date,vcA,total\n2020-04-03,0,0\n2020-04-01,12,12\n2020-04-02,20,20\n").cluster
    assert [(server.name, server.capacity[0]) for server in cluster.servers] == [
        ("vcA-1", 8000),
        ("vcA-2", 4000),
        ("vcA-3", 4000),
        ("vcA-4", 4000),
    ]
    assert [gpus_at(cluster, int(day * DAY)) for day in (0, 0.99, 1, 1.99, 2, 400)] == [12, 12, 20, 20, 0, 0]


def test_with_the_log_time_0_is_the_first_arrival(tmp_path):
    """The job arrives on 2020-06-09 at 18:45, 5 h 15 min before the capacity grows."""
    text = "date,vc,total\n2020-06-08,8,8\n2020-06-09,16,16\n2020-06-10,24,24\n"
    cluster = found(tmp_path, log=HEADER + row(), days=text).cluster
    change = 5 * 3_600_000 + 15 * 60_000
    assert [gpus_at(cluster, at) for at in (0, change - 1, change)] == [16, 16, 24]


def test_days_that_do_not_add_up_or_cannot_be_read_are_reported(tmp_path):
    text = "date,a,b,total\n2020-04-01,8,8,24\nApril,1,1,2\n2020-04-01,8,8,16\n2020-04-02,8,-1,7\n2020-04-03,8,0,8\n"
    result = found(tmp_path, days=text)
    assert result.skipped.counts == {"unreadable_date": 1, "duplicate_id": 1, "unreadable_cell": 1}
    assert any("on 1 of 2 days the virtual clusters do not add up" in note for note in result.notes)


def test_the_summary_is_refused_by_name(traces):
    with pytest.raises(ImportRefused, match=r"helios_cluster_summary.csv: line 1: this summary has only totals"):
        parse(traces / "helios/helios_cluster_summary.csv")


def test_the_summary_beside_a_log_is_passed_over(tmp_path, traces):
    result = found(tmp_path, log=HEADER + FIRST, sums=(traces / "helios/helios_cluster_summary.csv").read_text())
    assert "sums.csv contains only totals and is not used." in result.notes
    assert len(result.drafts) == 1


def test_a_log_without_a_column_is_refused_with_its_name(tmp_path):
    with pytest.raises(ImportRefused, match="'state'"):
        found(tmp_path, log=HEADER.replace("state,", "") + FIRST)
