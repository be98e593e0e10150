"""Slurm accounting. REAL was printed by `sacct -P -a -D` of Slurm 22.05.8 on a small cluster, one name with a |."""

import pytest

from twin.traces.importers import ImportRefused, read
from twin.traces.importing.formats import sniff
from twin.traces.importing.parsing import parse
from twin.traces.importing.reading import Reading
from twin.traces.uploads.openfile import Upload

REAL = """\
JobID|JobName|Partition|User|Submit|Start|End|Elapsed|State|NNodes|NCPUS|ReqMem|AllocTRES|ReqTRES
1|train one|x|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:22|00:00:04|COMPLETED|1|2|4000M|\
billing=2,cpu=2,gres/gpu=2,mem=4000M,node=1|billing=2,cpu=2,gres/gpu=2,mem=4000M,node=1
1.batch|batch|||2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:22|00:00:04|COMPLETED|1|2||\
cpu=2,gres/gpu=2,mem=4000M,node=1|
2|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:26|00:00:08|COMPLETED|2|2|4000M|\
billing=2,cpu=2,gres/gpu=8,mem=4000M,node=2|billing=2,cpu=2,gres/gpu=8,mem=4000M,node=2
2.batch|batch|||2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:26|00:00:08|COMPLETED|1|1||\
cpu=1,gres/gpu=4,mem=2000M,node=1|
2.0|sleep|||2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:21|00:00:03|COMPLETED|2|2||\
cpu=2,gres/gpu=8,mem=4000M,node=2|
4|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:24|2026-11-21T10:47:26|00:00:02|FAILED|1|1|3000M|\
billing=1,cpu=1,gres/gpu=3,mem=3000M,node=1|billing=1,cpu=1,gres/gpu=3,mem=3000M,node=1
5|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:21|2026-11-21T10:48:25|00:01:04|TIMEOUT|1|1|2000M|\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
6|wrap|edge|root|2026-11-21T10:47:18|Unknown|Unknown|00:00:00|PENDING|3|3|6000M||\
billing=3,cpu=3,gres/gpu=12,mem=6000M,node=3
7|wrap|edge|root|2026-11-21T10:47:18|None|2026-11-21T10:47:30|00:00:00|CANCELLED by 0|1|1|2000M||\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
8|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:21|Unknown|00:00:22|RUNNING|1|1|2000M|\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
9|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:19|2026-11-21T10:47:20|00:00:01|COMPLETED|1|1|2000M|\
billing=1,cpu=1,mem=2000M,node=1|billing=1,cpu=1,mem=2000M,node=1
9.batch|batch|||2026-11-21T10:47:19|2026-11-21T10:47:19|2026-11-21T10:47:20|00:00:01|COMPLETED|1|1||\
cpu=1,mem=2000M,node=1|
10+0|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:48:33|2026-11-21T10:48:35|00:00:02|COMPLETED|1|1|2000M|\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
10+0.batch|batch|||2026-11-21T10:48:33|2026-11-21T10:48:33|2026-11-21T10:48:35|00:00:02|COMPLETED|1|1||\
cpu=1,gres/gpu=1,mem=2000M,node=1|
10+1|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:48:33|2026-11-21T10:48:35|00:00:02|COMPLETED|1|1|2000M|\
billing=1,cpu=1,gres/gpu=2,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=2,mem=2000M,node=1
3_0|wrap|edge|root|2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:20|00:00:02|COMPLETED|1|1|2000M|\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
3_0.batch|batch|||2026-11-21T10:47:18|2026-11-21T10:47:18|2026-11-21T10:47:20|00:00:02|COMPLETED|1|1||\
cpu=1,gres/gpu=1,mem=2000M,node=1|
19|wrap|edge|root|2026-11-21T10:52:28|2026-11-21T10:52:29|2026-11-21T10:52:30|00:00:01|REQUEUED|1|1|2000M|\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
19.batch|batch|||2026-11-21T10:52:29|2026-11-21T10:52:29|2026-11-21T10:52:33|00:00:04|CANCELLED|1|1||\
cpu=1,gres/gpu=1,mem=2000M,node=1|
19|wrap|edge|root|2026-11-21T10:52:34|2026-11-21T10:52:40|2026-11-21T10:52:44|00:00:04|COMPLETED|1|1|2000M|\
billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1|billing=1,cpu=1,gres/gpu=1,mem=2000M,node=1
"""
SHORT = "JobID|Submit|Start|End|State|AllocTRES\n"
GOOD = "1|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|cpu=8,gres/gpu=2,mem=64G,node=1\n"


def found(tmp_path, *texts):
    uploads = []
    for number, text in enumerate(texts):
        path = tmp_path / f"upload{number}"
        path.write_bytes(text.encode())
        uploads.append(Upload(path, f"sacct{number}.txt"))
    (part,) = parse(uploads)
    return part.read


def reading(tmp_path, text, **options):
    path = tmp_path / "upload"
    path.write_bytes(text.encode())
    (part,) = parse(path, reading=Reading(**options))
    return part.read


CPU = "{}|2026-11-20T10:00:0{}|2026-11-20T10:01:00|2026-11-20T10:02:00|COMPLETED|cpu=4,mem=8000M,node=1\n"


@pytest.mark.parametrize(
    ("option", "cpu_jobs", "jobs"),
    [(None, 2, 3), (None, 1, 1), ("keep", 1, 2), ("skip", 2, 1)],
    ids=["most have none", "half have none", "kept", "skipped"],
)
def test_jobs_without_gpus_are_kept_where_most_have_none(tmp_path, option, cpu_jobs, jobs):
    """They were dropped because one job had GPUs; a worker of such a job is a CPU."""
    text = SHORT + GOOD + "".join(CPU.format(n + 2, n) for n in range(cpu_jobs))
    result = reading(tmp_path, text, cpu_jobs=option)
    assert len(result.drafts) == jobs
    assert result.skipped.counts["no_gpu"] == 1 + cpu_jobs - jobs
    workers = dict(zip(result.drafts.keys, result.drafts.workers.tolist(), strict=True))
    assert workers["1"] == 2
    assert workers.get("2", 4) == 4
    kept = f"Jobs without GPUs: {cpu_jobs} of {1 + cpu_jobs}, imported with workers of 1 CPU"
    assert any(note.startswith(kept) for note in result.notes) == (jobs > 1)


def test_components_of_a_heterogeneous_job_are_one_gang(tmp_path):
    """2 + 1 GPUs, the longer run time; memory and CPUs add up; its requeued component counts twice."""
    row = "700+{}|2026-11-20T10:00:00|2026-11-20T10:0{}:00|2026-11-20T10:{}:00|{}|cpu={},gres/gpu={},mem={}M,node=1\n"
    text = SHORT + row.format(0, 1, "02", "REQUEUED", 2, 2, 3000) + row.format(0, 3, 13, "COMPLETED", 2, 2, 3000)
    text += row.format(1, 3, "08", "COMPLETED", 7, 1, 6000)
    result = found(tmp_path, text)
    assert result.drafts.keys.tolist() == ["700"]
    assert result.drafts.workers.tolist() == [3]
    assert result.drafts.run_ms.tolist() == [11 * 60_000]
    assert result.drafts.demand[0, :3].tolist() == [1000, 3000, round(9000 * 1.048576 / 3)]
    assert result.merged == 2
    assert "Heterogeneous jobs: 1 row of further components joined; the components of a job run together." in (
        result.notes
    )


def test_a_time_zone_lengthens_a_job_across_the_change_of_the_clock(tmp_path):
    """In Berlin the clock went from 02:00 to 03:00 on 2026-03-29: 01:30 to 03:30 is one hour."""
    row = "1|2026-03-29T01:30:00|2026-03-29T01:30:00|2026-03-29T03:30:00|COMPLETED|cpu=1,gres/gpu=1,node=1\n"
    plain = found(tmp_path, SHORT + row)
    assert plain.drafts.run_ms.tolist() == [7_200_000]
    local = reading(tmp_path, SHORT + row, time_zone="Europe/Berlin")
    assert local.drafts.run_ms.tolist() == [3_600_000]
    assert local.notes[0].endswith("the first is 2026-03-29 00:30:00 UTC.")


def test_steps_are_merged_and_every_job_that_ran_on_gpus_is_there(tmp_path):
    """7 jobs from 20 rows: 4 cannot be used; 7 steps, the first run of the requeued job 19 and the second component of
    the heterogeneous job 10 are merged."""
    result = found(tmp_path, REAL)
    drafts = result.drafts
    assert dict(zip(drafts.keys, drafts.workers.tolist(), strict=True)) == {
        "1": 2, "2": 8, "4": 3, "5": 1, "10": 3, "3_0": 1, "19": 1,
    }  # fmt: skip
    assert dict(zip(drafts.keys, drafts.run_ms.tolist(), strict=True)) == {
        "1": 4000, "2": 8000, "4": 2000, "5": 64_000, "10": 2000, "3_0": 2000, "19": 5000,
    }  # fmt: skip
    assert drafts.arrival_ms.tolist() == [0] * 6 + [310_000]
    assert result.skipped.counts == {"pending": 1, "no_start": 1, "no_end": 1, "no_gpu": 1}
    assert result.rows == len(drafts) + len(result.skipped) + result.merged == 20
    assert set(drafts.known["group"]) == {"edge"}
    assert set(drafts.known["user"]) == {"root"}


def test_a_worker_has_one_gpu_and_its_share_of_cpus_and_memory(tmp_path):
    """2 GPUs, 8 CPUs, 64 GiB: 1 GPU, 4 CPUs, 34.36 GB each."""
    drafts = found(tmp_path, SHORT + GOOD).drafts
    assert drafts.demand.tolist() == [[1000, 4000, 34_360, -1, -1]]
    assert drafts.run_ms.tolist() == [600_000]


@pytest.mark.parametrize(
    ("column", "cell", "limit_ms"),
    [
        ("Timelimit", "1-02:00:00", 93_600_000), ("Timelimit", "00:10:00", 600_000), ("Timelimit", "UNLIMITED", -1),
        ("Timelimit", "Partition_Limit", -1), ("Timelimit", "", -1), ("TimelimitRaw", "90", 5_400_000),
        ("TimelimitRaw", "UNLIMITED", -1), ("TimelimitRaw", "99999999999", -1), ("ReqMem", "4000M", -1),
    ],
)  # fmt: skip
def test_the_time_limit_of_a_job(tmp_path, column, cell, limit_ms):
    text = SHORT.replace("\n", f"|{column}\n") + GOOD.replace("\n", f"|{cell}\n")
    assert found(tmp_path, text).drafts.known["limit_ms"].tolist() == [limit_ms]


@pytest.mark.parametrize("end", ["|\n", "\n", "\r\n"])
def test_lines_may_end_in_a_bar_or_a_carriage_return(tmp_path, end):
    """A job's name with a | is put right with `sacct -p` too."""
    result = found(tmp_path, REAL.replace("\n", end))
    assert (result.rows, len(result.drafts)) == (20, 7)
    assert "Repaired: 1 row with a | in a job name or command." in result.notes
    left = "Jobs without GPUs: 1 of 8, not imported because other jobs have GPUs"
    assert any(note.startswith(left) for note in result.notes)


def test_bars_may_stand_in_the_name_and_in_the_command(tmp_path):
    text = "JobID|JobName|Submit|State|Start|SubmitLine|End|User\n"
    row = "7|a|b|c|2026-11-20T10:00:00|COMPLETED|2026-11-20T10:00:00|sbatch x | y|2026-11-20T10:01:00|me\n"
    drafts = found(tmp_path, text + row).drafts
    assert (drafts.keys.tolist(), drafts.known["user"].tolist(), drafts.run_ms.tolist()) == (["7"], ["me"], [60_000])


def test_a_job_id_comes_from_jobidraw_where_there_is_no_other(tmp_path):
    text = "End|State|JobIDRaw|Start|Submit\n2026-11-20T10:10:00|COMPLETED|16|2026-11-20T10:00:00|2026-11-20T09:00:00\n"
    assert found(tmp_path, text).drafts.keys.tolist() == ["16"]


def test_without_gpus_a_worker_is_a_cpu(tmp_path):
    rows = "1|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|cpu=8,mem=8000M,node=1\n"
    drafts = found(tmp_path, SHORT + rows).drafts
    assert (drafts.workers.tolist(), drafts.demand[0].tolist()) == ([8], [0, 1000, 1049, -1, -1])


def test_without_any_resources_a_job_is_one_worker_to_be_sampled(tmp_path):
    text = "JobID|Submit|Start|Elapsed|State\n1|2026-11-20T10:00:00|2026-11-20T10:00:00|1-02:03:04|COMPLETED\n"
    drafts = found(tmp_path, text).drafts
    assert (drafts.workers.tolist(), drafts.demand[0].tolist()) == ([1], [-1] * 5)
    assert drafts.run_ms.tolist() == [((26 * 60 + 3) * 60 + 4) * 1000]


@pytest.mark.parametrize(
    ("column", "value", "run_ms"),
    [
        ("Elapsed", "02:03:04", 7_384_000),
        ("Elapsed", "03:04", 184_000),
        ("ElapsedRaw", "77", 77_000),
        ("Elapsed", "", 600_000),
    ],
)
def test_elapsed_counts_before_the_times(tmp_path, column, value, run_ms):
    text = SHORT.replace("AllocTRES", column) + GOOD.replace("cpu=8,gres/gpu=2,mem=64G,node=1", value)
    assert found(tmp_path, text).drafts.run_ms.tolist() == [run_ms]


@pytest.mark.parametrize(
    ("tres", "gpus"),
    [("cpu=4,gres/gpu:a100=3,node=1", 3), ("cpu=4,gres/gpu:a100=1,gres/gpu:v100=1", 2),
     ("gres/gpu=4,gres/gpu:a100=4", 4), ("cpu=1,gres/gpu=x", 0)],
)  # fmt: skip
def test_typed_gpus_count_where_the_plain_sum_is_missing(tmp_path, tres, gpus):
    drafts = found(tmp_path, SHORT + GOOD.replace("cpu=8,gres/gpu=2,mem=64G,node=1", tres)).drafts
    assert (drafts.workers[0], drafts.demand[0, 0]) == ((gpus, 1000) if gpus else (1, 0))


@pytest.mark.parametrize(("asked", "mb"), [("16Gn", 34_360), ("2000Mc", 16_777), ("4000M", 4194), ("0", -1), ("?", -1)])
def test_requested_memory_is_for_each_node_each_cpu_or_the_job(tmp_path, asked, mb):
    """2 nodes, 8 CPUs, one GPU."""
    text = "JobID|Submit|Start|End|State|ReqMem|NNodes|NCPUS|ReqTRES\n"
    row = f"1|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|{asked}|2|8|cpu=8,gres/gpu=1\n"
    assert found(tmp_path, text + row).drafts.demand[0, :3].tolist() == [1000, 8000, mb]


@pytest.mark.parametrize(
    "state",
    ["COMPLETED", "CANCELLED by 1000", "CANCELLED+", "OUT_OF_MEMORY", "NODE_FAIL", "PREEMPTED", "TIMEOUT", "DEADLINE"],
)
def test_every_end_is_a_job(tmp_path, state):
    assert len(found(tmp_path, SHORT + GOOD.replace("COMPLETED", state)).drafts) == 1


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("2|2026-11-20T10:00:00|Unknown|Unknown|PENDING|", "pending"),
        ("5_[3-9%2]|2026-11-20T10:00:00|Unknown|Unknown|PENDING|", "pending"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|Unknown|RUNNING|gres/gpu=1", "no_end"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|Unknown|COMPLETED|gres/gpu=1", "no_end"),
        ("2|2026-11-20T10:00:00|Unknown|2026-11-20T10:00:00|CANCELLED by 7|gres/gpu=1", "no_start"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:00:00|FAILED|gres/gpu=1", "run_not_positive"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T09:00:00|FAILED|gres/gpu=1", "run_not_positive"),
        ("2|soon|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|gres/gpu=1", "unreadable_submit"),
        ("2|2026-11-20T10:00:00|20-11-2026|2026-11-20T10:01:00|FAILED|gres/gpu=1", "unreadable_start"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T99:01:00|FAILED|gres/gpu=1", "unreadable_end"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|DANCING|gres/gpu=1", "unknown_status"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00||gres/gpu=1", "unknown_status"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|cpu=1", "no_gpu"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|gres/gpu=99999999", "too_many_gpus"),
        ("a b|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|gres/gpu=1", "unreadable_name"),
        ("|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|gres/gpu=1", "unreadable_name"),
        ("2.batch|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|gres/gpu=1", "no_job"),
        ("2|2026-11-20T10:00:00", "too_few_cells"),
        ("2|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:01:00|FAILED|gres/gpu=1|x", "too_many_cells"),
    ],
)  # fmt: skip
def test_a_bad_row_is_skipped_with_its_line_and_reason(tmp_path, bad, reason):
    result = found(tmp_path, SHORT + GOOD + bad + "\n")
    assert [(skip["line"], skip["reason"]) for skip in result.skipped.listed] == [(3, reason)]
    assert (result.rows, len(result.drafts), result.merged) == (2, 1, 0)


def test_outputs_put_together_may_repeat_the_header_and_clusters_may_share_ids(tmp_path):
    """A step may stand before its job; ids get the cluster's name only where there are two."""
    header = "Cluster|" + SHORT
    step = "1.batch|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|\n"
    one = found(
        tmp_path, header + "\n" + "alpha|" + step + "alpha|" + GOOD + header + "alpha|" + GOOD.replace("1|", "2|", 1)
    )
    assert (one.drafts.keys.tolist(), one.rows, one.merged) == (["1", "2"], 3, 1)
    two = found(tmp_path, header + "alpha|" + GOOD, header + "beta|" + GOOD)
    assert two.drafts.keys.tolist() == ["alpha:1", "beta:1"]


def test_unix_seconds_and_offsets_are_read(tmp_path):
    """With an offset the reading of the clock counts."""
    rows = (
        "1|1795168800|1795168800|1795168860|COMPLETED|gres/gpu=1\n2|2026-11-20T10:00:30+0100|2026-11-20 "
        "10:00:30|2026-11-20T10:01:30+01:00|COMPLETED|gres/gpu=1\n"
    )
    drafts = found(tmp_path, SHORT + rows).drafts
    assert (drafts.arrival_ms.tolist(), drafts.run_ms.tolist()) == ([0, 30_000], [60_000, 60_000])


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("JobID|Submit|Start|End", "'State'"),
        ("Submit|Start|End|State", "'JobID'"),
        ("JobID|Submit|Start|State", "'End' (or 'Elapsed')"),
    ],
)
def test_a_missing_column_is_named(tmp_path, header, missing):
    with pytest.raises(ImportRefused) as refusal:
        found(tmp_path, header + "\n")
    assert f"the column {missing} is missing" in str(refusal.value)


def test_only_sacct_fits(tmp_path):
    assert [match.format for match in sniff(REAL.encode()) if match.fits] == ["sacct"]


def test_no_jobs_are_refused(tmp_path):
    with pytest.raises(ImportRefused, match="0 rows read, no job found"):
        found(tmp_path, SHORT)


def test_steps_alone_are_refused(tmp_path):
    text = (
        "JobID|Submit|Start|End|State|ReqMem\n"
        "1.batch|2026-11-20T10:00:00|2026-11-20T10:00:00|2026-11-20T10:10:00|COMPLETED|4Gn\n"
    )
    with pytest.raises(ImportRefused, match=r"line 2: no job '1.batch'"):
        found(tmp_path, text)


def test_the_whole_import_keeps_what_sacct_says(tmp_path):
    path = tmp_path / "sacct.txt"
    path.write_text(REAL)
    result = read(path)
    first = result.preview[0]
    assert (first["id"], first["requested_workers"], first["worker"]["gpu"], first["worker"]["cpu"]) == ("1", 2, 1, 1)
    assert result.report["skipped_counts"] == {"pending": 1, "no_start": 1, "no_end": 1, "no_gpu": 1}


FIXED = "JobID  Submit              State\n------ ------------------- ----------\n1  2026-11-20T10:00:00 COMPLETED\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (GOOD * 2, "the first line is a job, not a header; export it without --noheader (-n)"),
        (FIXED, "its columns have a fixed width; export it with sacct -P (--parsable2)"),
    ],
)
def test_an_output_without_header_or_bars_says_how_to_export_it(tmp_path, text, sentence):
    with pytest.raises(ImportRefused, match=r"the most similar is Slurm accounting \(sacct -P\), but ") as refusal:
        found(tmp_path, text)
    assert sentence in str(refusal.value)
