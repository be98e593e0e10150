"""Accountings of other clusters: sacct --json, Grid Engine, PBS, LSF; samples written by hand from their manuals."""

import json

import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from tests.twin.importers.samples import SAMPLES
from twin.traces.importers import ImportRefused, bacct, lsf, pbs, sacct_json, sge

MIB = 1.048576


def jobs(read):
    """{id: (arrival s, run s, workers, GPUs, CPUs and MB of a worker)}"""
    drafts = read.drafts
    numbers = zip(drafts.arrival_ms // 1000, drafts.run_ms / 1000, drafts.workers, drafts.demand[:, :3], strict=True)
    return {
        key: (int(at), float(run), int(workers), *demand.tolist())
        for key, (at, run, workers, demand) in zip(drafts.keys, numbers, strict=True)
    }


def known(read, name):
    return dict(zip(read.drafts.keys, read.drafts.known[name].tolist(), strict=True))


def slurm(**changes):
    (text,) = SAMPLES["sacct_json"]
    job = json.loads(text)["jobs"][0]
    return job | changes


def slurm_log(*entries):
    return json.dumps({"meta": {}, "jobs": entries, "errors": []}, indent=1)


def test_a_job_of_sacct_json():
    read = read_texts(sacct_json, SAMPLES["sacct_json"][0])
    assert jobs(read) == {"12": (0, 3600, 2, 1000, 4000, round(16384 * MIB / 2))}
    assert known(read, "limit_ms") == {"12": 90 * 60_000}
    assert (known(read, "user"), known(read, "group")) == ({"12": "ann"}, {"12": "gpu"})
    assert listed(read) == [("1.txt", 2, "pending")]
    assert is_accounted(read)


def test_a_submission_after_the_year_9999_is_reported():
    """Milliseconds where seconds are expected; no date can state them."""
    time = slurm()["time"]
    moved = {name: value * 1000 if name in ("submission", "eligible", "start", "end") else value
             for name, value in time.items()}  # fmt: skip
    read = read_texts(sacct_json, slurm_log(slurm(), slurm(job_id=13, time=moved)))
    assert list(jobs(read)) == ["12"]
    assert [reason for _, _, reason in listed(read)] == ["unreadable_submit"]
    with pytest.raises(ImportRefused, match="no job found"):
        read_texts(sacct_json, slurm_log(slurm(job_id=13, time=moved)))


def test_arrays_gangs_and_older_forms_of_sacct_json():
    """A state that is text, a limit that is a number, GPUs by type, a suspended job, one that never began."""
    times = slurm()["time"]
    tres = {"allocated": [{"type": "gres", "name": "gpu:a100", "count": 1}], "requested": []}
    entries = [
        slurm(job_id=20, array={"job_id": 20, "task_id": 3}, state={"current": "FAILED"}, tres=tres,
              time=times | {"limit": 5, "elapsed": 60}),
        slurm(job_id=30, het={"job_id": 30, "job_offset": 0}),
        slurm(job_id=31, het={"job_id": 30, "job_offset": {"set": True, "number": 1}}, tres=tres),
        slurm(job_id=40, time=times | {"start": 0, "elapsed": None}),
        slurm(job_id=41, state={"current": ["RUNNING"]}), slurm(job_id=42, state={"current": ["?"]}), 7,
    ]  # fmt: skip
    read = read_texts(sacct_json, slurm_log(*entries))
    assert {key: value[1:4] for key, value in jobs(read).items()} == {
        "20_3": (60, 1, 1000), "30": (3600, 3, 1000),
    }  # fmt: skip
    assert known(read, "limit_ms")["20_3"] == 300_000
    assert [reason for _, _, reason in listed(read)] == ["no_start", "no_end", "unknown_status", "unreadable_cell"]
    assert is_accounted(read)


def test_real_output_of_sacct_json_is_recognized_by_its_keys():
    """The keys of Slurm 22.05: an empty list says so, other JSON is not taken."""
    assert sacct_json.sniff(SAMPLES["sacct_json"][0])[0]
    assert not sacct_json.sniff(b'{"jobs": []}')[0]
    with pytest.raises(ImportRefused, match=r"0 rows read, no job found"):
        read_texts(sacct_json, slurm_log())
    with pytest.raises(ImportRefused, match="the object is incomplete"):
        read_texts(sacct_json, '{"jobs": []')
    with pytest.raises(ImportRefused, match="an array is expected"):
        read_texts(sacct_json, '{"jobs": 5}')


def test_lines_of_grid_engine():
    """8 slots and 2 GPUs: 4 CPUs a worker; a task of an array; the slave task of a parallel job belongs to it."""
    text = SAMPLES["sge"][0].decode()
    slave = text.splitlines()[1].replace(":1700000000:", ":0:").replace(":NONE:1000.0", ":1.node2:1000.0")
    short = text.splitlines()[2].replace("42", "44").replace(":1700000760:", ":0:")
    in_ms = text.splitlines()[2].replace("42:sge:0:1700000100:1700000160:1700000760",
                                         "43:sge:0:1700000100500:1700000160000:1700000760000")  # fmt: skip
    read = read_texts(sge, text + f"{slave}\n{short}\n{in_ms}\na:b\n")
    assert jobs(read) == {
        "41": (0, 3600, 2, 1000, 4000, -1), "42.3": (100, 600, 1, 1000, 1000, -1), "43.3": (100, 600, 1, 1000, 1000, -1)
    }  # fmt: skip
    assert known(read, "limit_ms") == {"41": 7_200_000, "42.3": -1, "43.3": -1}
    assert known(read, "group")["41"] == "gpu.q"
    assert sorted(reason for _, _, reason in listed(read)) == ["no_end", "too_few_cells"]
    assert "Merged into their jobs: 1 line of slave tasks." in read.notes
    assert is_accounted(read)


def test_memory_of_grid_engine_is_for_each_slot():
    text = SAMPLES["sge"][0].decode().replace("gpu=2,", "gpu=2,mem_free=4G,")
    assert jobs(read_texts(sge, text))["41"][5] == 16_000


def test_records_of_pbs():
    """16 CPUs, 4 GPUs and 64 GiB; the record Q belongs to the job, the deletion of another one to none."""
    read = read_texts(pbs, SAMPLES["pbs"][0])
    assert jobs(read) == {"41": (0, 3600, 4, 1000, 4000, round(64 * 2**30 / 1e6 / 4))}
    assert known(read, "limit_ms") == {"41": 7_200_000}
    assert (known(read, "user"), known(read, "group")) == ({"41": "ann"}, {"41": "gpu"})
    assert listed(read) == [("1.txt", 3, "no_end")]
    assert read.merged == 1
    assert is_accounted(read)


@pytest.mark.parametrize(
    ("resources", "workers", "cpus"),
    [
        ("Resource_List.select=2:ncpus=8:ngpus=2+1:ncpus=4", 4, 5000),
        ("Resource_List.nodes=2:ppn=6:gpus=1", 2, 6000),
        ("Resource_List.nodes=node7:ppn=3", 3, 1000),
        ("exec_host=a/0+a/1+b/0*2", 4, 1000),
        ("Resource_List.walltime=1", 1, -1),
    ],
)
def test_amounts_of_pbs_and_torque(resources, workers, cpus):
    text = f"11/14/2023 23:14:20;E;7;ctime=1700000000 start=1700000060 end=1700003660 {resources}\n"
    found = jobs(read_texts(pbs, text))["7"]
    assert (found[2], found[4]) == (workers, cpus)


@pytest.mark.parametrize(
    ("memory", "megabytes"), [("16gb", 17_180), ("512kb", 1), ("1000mw", 8389), ("2g", -1), ("", -1)]
)
def test_memory_of_pbs_is_in_powers_of_two(memory, megabytes):
    text = f"11/14/2023 23:14:20;E;7;ctime=1700000000 start=1700000060 end=1700003660 Resource_List.mem={memory}\n"
    assert jobs(read_texts(pbs, text))["7"][5] == megabytes


def test_records_of_lsf():
    """2 slots on one host with 2 GPUs; the deadline is the time limit; an index of an array; a job never started."""
    text = SAMPLES["lsf"][0].decode()
    line = text.splitlines()[0]
    array = line.replace(" 41 1501", " 42 1501").replace('0 2 "" "" 0 108544', '0 2 "" "" 5 108544')
    spread = line.replace(" 41 1501", " 43 1501").replace('0 2 "n1" "n1"', '0 2 "4*n1" "4*n2"')
    never = line.replace(" 41 1501", " 44 1501").replace("1700007260 1700000060", "0 0")
    read = read_texts(lsf, "# 1\n" + text + f'{array}\n{spread}\n{never}\n"JOB_FINISH" "10.108" 1700003660 7\n')
    memory = round(108544 * 1.024e-3)
    assert jobs(read) == {
        "41": (0, 3600, 2, 1000, 1000, round(memory / 2)), "42[5]": (0, 3600, 2, 1000, 1000, round(memory / 2)),
        "43": (0, 3600, 4, 1000, 2000, round(memory / 4)),
    }  # fmt: skip
    assert known(read, "limit_ms")["41"] == 7_200_000
    assert sorted(reason for _, _, reason in listed(read)) == ["no_start", "not_of_a_job", "too_few_cells"]
    assert is_accounted(read)


@pytest.mark.parametrize(
    ("requirement", "gpus"),
    [("", 0), ("rusage[ngpus_physical=4.00]", 4), ("num=2:mode=shared", 2), ("num=1/task:mode=shared", 2)],
)
def test_gpus_of_lsf(requirement, gpus):
    text = SAMPLES["lsf"][0].decode().replace("rusage[ngpus_physical=2.00]", requirement)
    assert jobs(read_texts(lsf, text))["41"][2:4] == ((gpus, 1000) if gpus else (2, 0))


def test_a_paragraph_of_bacct_with_folded_lines():
    read = read_texts(bacct, SAMPLES["bacct"][0])
    assert jobs(read) == {"41": (0, 3600, 2, 1000, 4000, -1)}
    assert (known(read, "user"), known(read, "group")) == ({"41": "ann"}, {"41": "gpu"})
    assert read.notes[0].endswith("the first is 2023-11-14 22:13:20.")


@pytest.mark.parametrize(
    ("change", "reason"),
    [((": Completed <done>", ": Suspended"), "no_end"), ((" 2023:", ":"), "unreadable_submit"),
     (("Dispatched 8", "Forwarded 8"), "no_start")],
)  # fmt: skip
def test_a_paragraph_of_bacct_without_its_times_is_skipped(change, reason):
    text = SAMPLES["bacct"][0].decode()
    other = text[text.index("Job <41>") :].replace("<41>", "<42>").replace(*change)
    read = read_texts(bacct, text + other)
    assert [reason for _, _, reason in listed(read)] == [reason]
    assert (read.rows, len(read.drafts)) == (2, 1)


def test_older_words_of_bacct():
    """`Dispatched to 4 Hosts/Processors`."""
    text = SAMPLES["bacct"][0].decode()
    dispatched = text[text.index("Dispatched 8 Task") : text.index("Tue Nov 14 23:14:20")]
    old = text.replace(dispatched, "Dispatched to 4 Hosts/Processors <a> <a> <b> <b>;\n").replace("num=\n", "n\n")
    assert jobs(read_texts(bacct, old))["41"][2:5] == (4, 0, 1000)


def test_a_component_without_gpus_is_part_of_its_gang_when_cpu_jobs_are_skipped():
    tres = {"allocated": [{"type": "cpu", "count": 6}]}
    entries = [slurm(het={"job_id": 5, "job_offset": 0}), slurm(het={"job_id": 5, "job_offset": 1}, tres=tres)]
    entries.append(slurm(job_id=9, tres=tres))
    read = read_texts(sacct_json, slurm_log(*entries))
    assert jobs(read) == {"5": (0, 3600, 2, 1000, 7000, -1)}
    assert [reason for _, _, reason in listed(read)] == ["no_gpu"]
    assert is_accounted(read)
