"""Workloads of Shockwave, Pollux and Sia, and the Acme traces."""

import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from tests.twin.importers.samples import SAMPLES
from twin.traces.importers import ImportRefused, acme, pollux, shockwave


def test_a_shockwave_workload_states_its_run_times():
    read = read_texts(shockwave, SAMPLES["shockwave"][0])
    drafts = read.drafts
    assert drafts.keys.tolist() == [1, 2]
    assert (drafts.arrival_ms.tolist(), drafts.run_ms.tolist()) == ([0, 172_000], [1_418_000, 2_116_000])
    assert (drafts.workers.tolist(), drafts.known["global_batch"].tolist()) == ([1, 4], [10, 256])
    assert drafts.known["model"].tolist() == ["lstm-lm", "resnet-18"]
    assert drafts.known["iterations"].tolist() == [134_583, 45_353]
    assert "the batch size of 1 of 2 jobs changes in the run (accordion, gns)" in read.notes[0]


def test_bad_rows_of_a_shockwave_workload_are_skipped():
    good = SAMPLES["shockwave"][0].decode()
    row = good.splitlines()[0].split("\t")
    bad = [[*row[:at], cell, *row[at + 1 :]] for at, cell in ((5, "0"), (6, "1.5"), (6, "0"), (10, "x"), (10, "0"))]
    bad += [[*row[:11], "-1"], row[:11]]
    read = read_texts(shockwave, good + "".join("\t".join(cells) + "\n" for cells in bad))
    assert [reason for _, _, reason in sorted(listed(read), key=lambda item: item[1])] == [
        "unreadable_steps", "unreadable_gpus", "no_gpu", "unreadable_duration", "run_not_positive",
        "unreadable_arrival", "too_few_cells",
    ]  # fmt: skip
    assert is_accounted(read)
    with pytest.raises(ImportRefused, match="11 cells between tabs; a Shockwave workload has 12"):
        read_texts(shockwave, "\t".join(row[:11]))


def test_run_times_of_pollux_are_estimates_by_application():
    """cifar10: sqrt(1/60 x 1) = 0.1291 GPU hours on 4 replicas; imagenet: sqrt(100 x 1000) = 316.2 h on 16."""
    read = read_texts(pollux, SAMPLES["pollux"][0])
    drafts = read.drafts
    assert drafts.run_ms.tolist() == [round(3_600_000 * (1 / 60) ** 0.5 / 4), round(3_600_000 * 100_000**0.5 / 16)]
    assert (drafts.arrival_ms.tolist(), drafts.workers.tolist()) == ([0, 3500], [4, 16])
    assert drafts.known["global_batch"].tolist() == [4096, 3200]
    assert drafts.known["model"].tolist() == ["resnet-18", "resnet-50"]
    assert read.notes[0].startswith(
        "Run times are estimates, because the workload states none: GPU time by application, cifar10 0.129 h (1), "
        "imagenet 316 h (1), divided by the replicas."
    )


def test_an_application_that_is_not_known_is_skipped():
    rows = "x-1,1,gpt,2,8\ncifar10-0,1,cifar10,1,8\nn,1,ncf,0,8\nm,x,ncf,1,8\nk,1,ncf,1,\n"
    read = read_texts(pollux, SAMPLES["pollux"][0].decode() + rows)
    assert [reason for _, _, reason in listed(read)] == ["duplicate_id", "unreadable_time", "unknown_model", "no_gpu"]
    assert len(read.drafts) == 3
    assert is_accounted(read)


def test_acme_runs_from_start_to_end_not_for_its_duration():
    """In Kalos the duration counts the wait: 18 s of a job that ran for 8 s."""
    read = read_texts(acme, SAMPLES["acme"][0])
    drafts = read.drafts
    assert drafts.keys.tolist() == ["dlc1", "dlc2"]
    assert (drafts.run_ms.tolist(), drafts.workers.tolist()) == ([8_000, 70_000], [64, 8])
    assert drafts.demand[0].tolist() == [1000, 15_000, round(8 * 1_000_000 / 64), -1, -1]
    assert drafts.known["group"].tolist() == ["Other", "Eval"]
    assert "The run time is end_time - start_time; the column “duration” differs in 2 of 2 jobs." in read.notes


def test_acme_of_seren_has_cpu_jobs_and_offsets():
    header = "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,end_time,duration,queue,gpu_time\n"
    row = "{},u,1,{},128,Other,{},2023-03-01 00:18:22+08:00,2023-03-01 00:18:54{},2023-03-01 00:20:51+08:00,117,32,9\n"
    rows = [(1, 8, "FAILED", "+08:00"), (2, 0, "COMPLETED", "+08:00"), (3, 8, "RUNNING", "+08:00"),
            (4, 8, "COMPLETED", "+09:00"), (1, 8, "FAILED", "+08:00")]  # fmt: skip
    read = read_texts(acme, header + "".join(row.format(*values) for values in rows))
    assert read.drafts.keys.tolist() == ["1", "4"]
    assert read.drafts.run_ms.tolist() == [117_000, 3_717_000]
    assert sorted(reason for _, _, reason in listed(read)) == ["duplicate_id", "no_end", "no_gpu"]
    assert is_accounted(read)
