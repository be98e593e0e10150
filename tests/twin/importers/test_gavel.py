"""Gavel: no header, no durations."""

from collections import Counter

import numpy as np
import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from twin.traces.importers import ImportRefused, Upload, gavel, read

COMMAND = "cd %s/x && python3 train.py -data %s/y "


def row(kind="ResNet-18 (batch size 100)", steps=1000, arrival="0.000000", scale=1):
    return f"{kind}\t{COMMAND}\t-n\t1\t{steps}\t{arrival}\t{scale}\n"


def test_run_time_is_steps_by_rate():
    """ResNet-18: 13 ms a step and 0.16 ms a sample, 29 ms for 100; 32 GPUs are 8 times as fast."""
    drafts = read_texts(gavel, row(arrival="219316.5") + row(scale=32)).drafts
    assert drafts.keys.tolist() == [2, 1]
    assert drafts.arrival_ms.tolist() == [0, 219_316_500]
    assert drafts.run_ms.tolist() == [3_625, 29_000]
    assert drafts.workers.tolist() == [32, 1]
    assert drafts.known["global_batch"].tolist() == [3200, 100]
    assert drafts.known["iterations"].tolist() == [1000, 1000]
    assert drafts.known["model"].tolist() == ["resnet-18"] * 2


def test_types_without_a_batch():
    known = read_texts(gavel, row("A3C") + row("CycleGAN", arrival=1)).drafts.known
    assert known["model"].tolist() == ["a3c", "cyclegan"]
    assert np.isnan(known["global_batch"]).all()


def test_the_dialects_with_more_columns():
    """9 and 10 columns: scale, priority, SLO, arrival at the end, and a working directory after the command."""
    nine = f"A3C\t{COMMAND}\t-n\t0\t1000\t4\t1.0\t-1.0\t60\n"
    ten = f"A3C\t{COMMAND}\tdir\t-n\t0\t1000\t4\t1.0\t-1.0\t60\n"
    for text in (nine, ten):
        assert gavel.sniff(text.encode())[0]
        drafts = read_texts(gavel, text).drafts
        assert (drafts.workers.tolist(), drafts.known["iterations"].tolist()) == ([4], [1000])


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row("Tacotron"), "unknown_model"), (row(""), "unknown_model"), (row(steps="x"), "unreadable_steps"),
        (row(steps="1.5"), "unreadable_steps"), (row(steps=10**30), "unreadable_steps"),
        (row(steps=0), "run_not_positive"), (row(steps=-1), "run_not_positive"), (row(steps=2**50), "run_too_long"),
        (row(arrival="-1"), "unreadable_arrival"), (row(arrival="nan"), "unreadable_arrival"),
        (row(arrival="1e400"), "unreadable_arrival"), (row(scale=0), "no_gpu"), (row(scale="1.5"), "unreadable_gpus"),
        (row(scale=10**7), "too_many_gpus"), ("A3C\tx\n", "too_few_cells"), (row()[:-1] + "\tmore\n", "too_many_cells"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out(bad, reason):
    read = read_texts(gavel, row() + bad + row())
    assert listed(read) == [("1.txt", 2, reason)]
    assert read.drafts.keys.tolist() == [1, 3]
    assert is_accounted(read)


def test_files_are_groups_and_rows_are_counted_on():
    drafts = read_texts(gavel, row() + row(), row(arrival=5)).drafts
    assert drafts.keys.tolist() == [1, 2, 3]
    assert drafts.known["group"].tolist() == ["1", "1", "2"]


def test_another_table_is_refused():
    assert not gavel.sniff(b"1\t2\t3\t4\t5\t6\t7\n")[0]
    assert not gavel.sniff(b"a,b\n")[0]
    assert not gavel.sniff(b"")[0]
    with pytest.raises(ImportRefused, match="1 cells between tabs; a Gavel trace has 7, 9 or 10 columns"):
        read_texts(gavel, "a,b\n")
    with pytest.raises(ImportRefused, match="1 row read, no job found; line 1: unknown model"):
        read_texts(gavel, row("x"))


@pytest.mark.parametrize(
    ("name", "rows", "last", "scales"),
    [
        ("103959", 986, 7_910_536, {1: 500, 2: 40, 4: 446}), ("23dbec", 9, 188_011, {1: 2, 8: 7}),
        ("51b7ef", 18, 3_022_240, {1: 3, 4: 2, 8: 13}), ("795a4c", 3, 3_362, {1: 3}),
        ("925e2b", 4, 12_313, {1: 1, 8: 3}),
    ],
)  # fmt: skip
def test_the_published_traces(traces, name, rows, last, scales):
    drafts = read_texts(gavel, (traces / f"gavel/{name}.trace").read_bytes()).drafts
    assert len(drafts) == rows
    assert int(drafts.arrival_ms[-1]) == last * 1000
    assert Counter(drafts.workers.tolist()) == scales
    assert not np.isnan(drafts.known["gradient_mb"]).any()


def test_all_published_files_are_one_upload(traces):
    paths = [*sorted((traces / "gavel").glob("*.trace")), traces / "gavel/cluster_specs.json"]
    result = read([Upload(path) for path in paths])
    assert result.jobs.count == 986 + 9 + 18 + 3 + 4
    assert sum(server.capacity[0] for server in result.cluster.servers) == 500_000


def test_a_refusal_does_not_contradict_itself():
    """It said that the cells are those of jobs, of a file in which one of three lines is a job."""
    job = b"LM (batch size 5)\tpython3 x\t-n\t1\t100\t5\t1\n"
    fits, why, _ = gavel.sniff(job + b"a\tb\tc\td\te\tf\tg\n" * 2)
    assert (fits, why) == (False, "steps, arrival and scale are numbers in only 1 of 3 lines")
