"""Alibaba PAI v2020: small tables written by hand in the published shapes, and the real machine table."""

import gzip
import io
import tarfile
from collections import Counter

import pytest

from twin.traces.importers import ImportRefused, read
from twin.traces.importers._shared.pai_tables import TABLES
from twin.traces.importing.formats import sniff
from twin.traces.importing.parsing import parse
from twin.traces.uploads.openfile import Upload

# job_name, inst_id, user, status, start_time, end_time
JOB = [
    "aaa,i1,u1,Terminated,1000.0,1700.0",
    "bbb,i2,u1,Failed,900.5,1900.0",
    "ccc,i3,u2,Running,1200.0,",
    "ddd,i4,u2,Waiting,1300.0,",
]
# job_name, task_name, inst_num, status, start_time, end_time, plan_cpu, plan_mem, plan_gpu, gpu_type
TASK = [
    "aaa,ps,2.0,Terminated,1100.0,1700.0,600.0,20.0,,",
    "aaa,worker,8.0,Terminated,1110.0,1690.0,800.0,29.296875,50.0,T4",
    "aaa,evaluator,1.0,Terminated,1110.0,1690.0,800.0,29.0,50.0,T4",
    "bbb,tensorflow,1.0,Failed,1000.0,,600.0,,100.0,MISC",
    "ccc,worker,1.0,Running,1250.0,,600.0,10.0,100.0,P100",
]
# job_name, task_name, inst_name, worker_name, inst_id, status, start_time, end_time, machine
INSTANCE = [
    "aaa,worker,n1,w1,i1,Terminated,1150.0,1500.0,m1",
    "aaa,worker,n2,w2,i1,Terminated,1160.0,1650.0,m2",
    "bbb,tensorflow,n3,w3,i2,Failed,1010.0,,m1",
]
# inst_id, user, gpu_type_spec, group, workload
TAG = ["i1,u1,,g1,ctr", "i2,u1,V100,g2,", "i9,u1,,g2,bert"]
MACHINE = ["m1,P100,64.0,512.0,2.0", "m2,CPU,96,512,0"]


def found(tmp_path, **tables):
    uploads = []
    for name, rows in tables.items():
        path = tmp_path / name
        path.write_text("".join(row + "\n" for row in rows))
        uploads.append(Upload(path, f"{name}.csv"))
    (part,) = parse(uploads)
    return part.read


def reasons(result):
    return [(row["file"], row["line"], row["reason"]) for row in result.skipped.listed]


def test_job_and_task_table_give_the_jobs(tmp_path):
    """bbb arrives 99.5 s before aaa. Run: 1,900 - 1,000 = 900 s, and 1,700 - 1,100 = 600 s from the earliest task."""
    result = found(tmp_path, job=JOB, task=TASK)
    drafts = result.drafts
    assert drafts.keys.tolist() == ["bbb", "aaa"]
    assert drafts.arrival_ms.tolist() == [0, 99_500]
    assert drafts.run_ms.tolist() == [900_000, 600_000]
    assert drafts.workers.tolist() == [1, 8]
    assert drafts.known["user"].tolist() == ["u1", "u1"]
    assert reasons(result) == [("job.csv", 3, "no_end"), ("job.csv", 4, "no_end")]
    assert result.rows == len(drafts) + len(result.skipped) + result.merged == 9


def test_percent_and_gb_become_thousandths_and_empty_cells_are_sampled(tmp_path):
    """600 % = 6 CPUs, 50 % = half a GPU, 29.296875 GB; no plan_mem = not known."""
    drafts = found(tmp_path, job=JOB, task=TASK).drafts
    assert drafts.demand.tolist() == [[1000, 6000, -1, -1, -1], [500, 8000, 29_297, -1, -1]]


def test_ps_tasks_are_the_parameter_servers(tmp_path):
    """8 workers and 2 servers: 4 workers each; a ps without plan_gpu and gpu_type has no GPU. bbb's are sampled."""
    result = found(tmp_path, job=JOB, task=TASK)
    known = result.drafts.known
    assert known["workers_per_ps"].tolist()[1] == 4
    assert known["workers_per_ps"][0] != known["workers_per_ps"][0]
    assert known["ps"].tolist() == [[-1] * 5, [0, 6000, 20_000, -1, -1]]
    assert any(
        "parameter servers of 1 job. Not imported are other tasks (evaluator, tracker, ...) of 1 job." in note
        for note in result.notes
    )


def test_the_import_keeps_the_ps_of_the_trace(tmp_path):
    for name, rows in (("job", JOB), ("task", TASK)):
        (tmp_path / name).write_text("\n".join(rows))
    jobs = read([Upload(tmp_path / "job"), Upload(tmp_path / "task")]).preview
    assert [(job["id"], job["requested_workers"], job["ps"]["cpu"]) for job in jobs][1] == ("aaa", 8, 6)


def test_workers_are_all_tasks_that_ask_for_the_most_gpus(tmp_path):
    """chief and worker have 1 GPU each and make a gang of 4; the tracker without GPUs is left out."""
    tasks = [
        "a,chief,1,Terminated,1,9,100,1,100,T4",
        "a,OpenmpiTracker,5,Terminated,1,9,100,1,,",
        "a,worker,3,Terminated,1,9,200,1,100,T4",
    ]
    drafts = found(tmp_path, job=["a,i,u,Terminated,0,9"], task=tasks).drafts
    assert (drafts.workers.tolist(), drafts.demand[0, :2].tolist()) == ([4], [1000, 2000])


def test_a_job_of_parameter_servers_only_takes_them_for_workers(tmp_path):
    drafts = found(tmp_path, job=["a,i,u,Terminated,0,9"], task=["a,ps,3,Terminated,1,9,200,1,,"]).drafts
    assert (drafts.workers.tolist(), drafts.known["ps"][0].tolist()) == ([3], [-1] * 5)


def test_instances_with_both_times_refine_the_run(tmp_path):
    """aaa: 1,650 - 1,150 = 500 s; the only instance of bbb has no end, so bbb keeps its 900 s."""
    result = found(tmp_path, job=JOB, task=TASK, instance=INSTANCE)
    assert result.drafts.run_ms.tolist() == [900_000, 500_000]
    assert any("1 job, with a different result for 1" in note for note in result.notes)
    assert result.rows == len(result.drafts) + len(result.skipped) + result.merged == 12


def test_the_group_tag_gives_the_model(tmp_path):
    result = found(tmp_path, job=JOB, task=TASK, tag=TAG)
    assert result.drafts.known["model"].tolist() == ["", "ctr"]
    assert ("tag.csv", 3, "no_job") in reasons(result)


def test_an_end_missing_in_the_job_table_is_taken_from_its_tasks(tmp_path):
    tasks = [
        "a,worker,1,Terminated,1,8,100,1,100,T4",
        "a,ps,1,Terminated,2,9,100,1,,",
        "b,worker,1,Terminated,1,,100,1,100,T4",
        "c,worker,1,Terminated,,9,1,1,1,T4",
    ]
    result = found(tmp_path, job=["a,i,u,Terminated,0,", "b,i,u,Failed,0,", "c,i,u,Failed,0,9"], task=tasks)
    assert (result.drafts.keys.tolist(), result.drafts.run_ms.tolist()) == (["a"], [8000])
    assert reasons(result) == [("job.csv", 3, "no_start"), ("job.csv", 2, "no_end")]


@pytest.mark.parametrize(
    "order", [("job", "task", "instance", "machine", "tag"), ("tag", "machine", "instance", "task", "job")]
)
@pytest.mark.parametrize("headed", [False, True])
def test_tables_come_in_any_order_with_a_header_or_without(tmp_path, order, headed):
    rows = {"job": JOB, "task": TASK, "instance": INSTANCE, "machine": MACHINE, "tag": TAG}
    names = {"tag": "group tag"}
    tables = {kind: [",".join(TABLES[names.get(kind, kind)])] * headed + rows[kind] for kind in order}
    result = found(tmp_path, **tables)
    assert result.drafts.run_ms.tolist() == [900_000, 500_000]
    assert [(server.name, server.capacity[:3], server.roles) for server in result.cluster.servers] == [
        ("m1", (2000, 64_000, 512_000), ("worker",)), ("m2", (0, 96_000, 512_000), ("ps",)),
    ]  # fmt: skip
    assert result.rows == 17 == len(result.drafts) + len(result.cluster.servers) + len(result.skipped) + result.merged


def test_one_archive_with_header_files_beside_the_tables(tmp_path, traces):
    """The tables as they are published: a .tar.gz each, all of it in one archive of tables and .header files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        members = {
            "pai_job_table.csv": "\n".join(JOB),
            "pai_task_table.csv": "\n".join(TASK),
            "pai_machine_spec.csv": "\n".join(MACHINE),
        }
        members |= {path.name: path.read_text() for path in traces.glob("alibaba_pai2020/*.header")}
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    path = tmp_path / "pai.tar.gz"
    path.write_bytes(gzip.compress(out.getvalue()))
    (part,) = parse(path)
    assert part.read.drafts.keys.tolist() == ["bbb", "aaa"]
    assert len(part.read.cluster.servers) == 2


def test_the_real_machine_table(traces):
    """1,897 machines, 6,742 GPUs; 83 of type CPU without any; 64 cores in 798 and 96 in 1,099."""
    (part,) = parse(
        [Upload(traces / "alibaba_pai2020" / name) for name in ("pai_machine_spec.tar.gz", "pai_machine_spec.header")]
    )
    servers = part.read.cluster.servers
    assert len(servers) == part.read.rows == 1_897
    assert sum(server.capacity[0] for server in servers) == 6_742_000
    assert Counter(server.capacity[1] for server in servers) == {64_000: 798, 96_000: 1_099}
    assert Counter(server.capacity[2] for server in servers) == {384_000: 180, 512_000: 1_717}
    assert Counter(server.roles for server in servers) == {("worker",): 1_814, ("ps",): 83}


def test_bad_rows_are_skipped_with_file_line_and_reason(tmp_path):
    job = [
        "a,i,u,Terminated,0,9", "a,i,u,Terminated,0,9", "b,i,u,Exploded,0,9", "c,i,u,Failed,,9", "d,i,u,Failed,x,9",
        "e,i,u,Failed,0,x", "f f,i,u,Failed,0,9", "g,i,u,Failed,0,9", "h,i,u,Failed,0,9", "k,i,u,Failed,0,1e400", "l",
        "m,i,u,Terminated,0,5,,", "n,i,u,Terminated,0,5,1",
    ]  # fmt: skip
    task = [
        "a,worker,1,Terminated,1,9,100,1,100,T4", "b,worker,1,Terminated,1,9,100,1,100,T4",
        "z,worker,1,Terminated,1,9,100,1,100,T4", "a,worker,0,Terminated,1,9,100,1,100,T4",
        "a,worker,1,Terminated,-1,9,100,1,100,T4", "a,worker,1,Terminated,1,9,100,nan,100,T4",
        "h,worker,1,Terminated,9,9,100,1,100,T4", "m,worker,1,Terminated,1,9,100,1,,T4",
    ]  # fmt: skip
    result = found(tmp_path, job=job, task=task)
    assert result.drafts.keys.tolist() == ["a", "m"]
    assert result.drafts.demand[:, 0].tolist() == [1000, -1]
    assert sorted(reasons(result)) == [
        ("job.csv", 2, "duplicate_id"), ("job.csv", 3, "unknown_status"), ("job.csv", 4, "no_start"),
        ("job.csv", 5, "unreadable_start_time"), ("job.csv", 6, "unreadable_end_time"),
        ("job.csv", 7, "unreadable_name"), ("job.csv", 8, "no_task"), ("job.csv", 9, "run_not_positive"),
        ("job.csv", 10, "unreadable_end_time"), ("job.csv", 11, "too_few_cells"), ("job.csv", 13, "too_many_cells"),
        ("task.csv", 3, "no_job"), ("task.csv", 4, "unreadable_inst_num"), ("task.csv", 5, "unreadable_start_time"),
        ("task.csv", 6, "unreadable_plan_mem"),
    ]  # fmt: skip
    assert result.rows == len(result.drafts) + len(result.skipped) + result.merged == 21
    assert any(note.startswith("GPUs are sampled for 1 task with a GPU type but no plan_gpu") for note in result.notes)


@pytest.mark.parametrize(
    ("tables", "sentence"),
    [
        ({"job": JOB}, "the task table is missing (given: job)"),
        ({"task": TASK}, "the job table is missing (given: task)"),
        ({"tag": TAG}, "the job table is missing (given: group tag)"),
        ({"job": [",".join(TABLES["job"])]}, "job.csv: it has only a header line"),
        ({"job": JOB[2:], "task": TASK}, "7 rows read, no job found"),
        ({"machine": ["m 1,P100,64,512,2", "m/2,P100,64,512,2", "m3,P100,64,512,2,9"]}, "no known format matches"),
    ],
)  # fmt: skip
def test_an_upload_that_gives_nothing_is_refused_with_what_is_missing(tmp_path, tables, sentence):
    with pytest.raises(ImportRefused) as refusal:
        found(tmp_path, **tables)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("rows", [JOB, TASK, INSTANCE, MACHINE, TAG])
def test_only_pai_fits_its_tables(rows):
    assert [match.format for match in sniff("\n".join(rows).encode()) if match.fits] == ["pai"]


def test_a_header_that_lacks_a_column_says_which(tmp_path):
    with pytest.raises(ImportRefused, match="the column 'plan_gpu' of the task table is missing"):
        found(
            tmp_path,
            task=[",".join(name for name in TABLES["task"] if name != "plan_gpu"), "a,worker,1,x,1,9,100,1,T4"],
        )
