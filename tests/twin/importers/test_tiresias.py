"""Tiresias, and what its reader shares with Muri's and ElasticFlow's."""

from collections import Counter

import numpy as np
import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from twin.traces.importers import ImportRefused, read, tiresias

HEADER = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
TRACE = HEADER + "0,1,30,606,vgg19,164,30\r\n1,8,10,133,resnet50,147.5,23\r\n"


def test_a_gang_of_gpus():
    read = read_texts(tiresias, TRACE)
    drafts = read.drafts
    assert [f"{drafts.prefix}{key}" for key in drafts.keys] == ["j1", "j0"]
    assert drafts.arrival_ms.tolist() == [0, 20_000]
    assert drafts.run_ms.tolist() == [147_500, 164_000]
    assert drafts.workers.tolist() == [8, 1]
    assert drafts.demand.tolist() == [[1000, -1, -1, -1, -1]] * 2
    assert drafts.known["model"].tolist() == ["resnet-50", "vgg-19"]
    assert drafts.known["gradient_mb"].tolist() == pytest.approx([102.4, 574.8])
    assert drafts.known["iterations"].tolist() == [133, 606]
    assert set(drafts.known) == {"model", "gradient_mb", "iterations"}


def test_a_model_that_is_not_known_is_named():
    read = read_texts(tiresias, HEADER + "0,1,30,606,Odd One,164,30\n1,1,30,x,,164,30\n")
    assert read.drafts.known["model"].tolist() == ["odd-one", ""]
    assert read.notes[-1] == "Unknown model sizes: jobs without a model, odd-one: their gradient sizes are sampled."
    assert "gradient_mb" not in read.drafts.known
    assert np.isnan(read.drafts.known["iterations"][1])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("0,1,1,1,m,1,1", "duplicate_id"), ("a b,1,1,1,m,1,1", "unreadable_name"), (",1,1,1,m,1,1", "unreadable_name"),
        ("2,1,-1,1,m,1,1", "unreadable_submit_time"), ("2,1,nan,1,m,1,1", "unreadable_submit_time"),
        ("2,1,1e300,1,m,1,1", "unreadable_submit_time"), ("2,1,1,1,m,,1", "unreadable_duration"),
        ("2,1,1,1,m,1e400,1", "unreadable_duration"), ("2,1,1,1,m,0,1", "run_not_positive"),
        ("2,1,1,1,m,-5,1", "run_not_positive"), ("2,1,1,1,m,1e10,1", "run_too_long"), ("2,0,1,1,m,1,1", "no_gpu"),
        ("2,1.5,1,1,m,1,1", "unreadable_gpus"), ("2,10000000,1,1,m,1,1", "too_many_gpus"), ("2,1,1", "too_few_cells"),
    ],
)  # fmt: skip
def test_a_bad_row_is_left_out(row, reason):
    read = read_texts(tiresias, TRACE + row + "\n")
    assert listed(read) == [("1.txt", 4, reason)]
    assert is_accounted(read)


def test_two_files_are_one_trace():
    read = read_texts(tiresias, TRACE, TRACE.replace("0,1,30", "9,1,70"))
    assert read.drafts.keys.tolist() == ["1", "0", "9"]
    assert listed(read) == [("2.txt", 3, "duplicate_id")]


def test_absolute_times_and_columns_in_another_order():
    text = (
        "duration,model_name,job_id,extra,submit_time,iterations,num_gpu\n"
        "5,vgg16,a,?,1600000000,1,2\n6,vgg16,b,?,1600000060,1,2"
    )
    assert read_texts(tiresias, text).drafts.arrival_ms.tolist() == [0, 60_000]


def test_it_fits_its_own_dialect_only():
    assert tiresias.sniff(TRACE.encode())[0]
    fits, why, _ = tiresias.sniff(TRACE.replace("interval", "iteration_time").encode())
    assert (fits, why) == (
        False,
        "the column 'iteration_time' belongs to another format, which may use another time unit",
    )
    assert tiresias.sniff(TRACE.replace("num_gpu", "gpus").encode())[1] == "the column 'num_gpu' is missing"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("duration\n121\n", "1.txt: line 1: the only column is duration: arrivals and GPUs of the jobs are missing"),
        (TRACE.replace("duration", "time"), "1.txt: line 1: the column 'duration' is missing"),
        (HEADER, "0 rows read, no job found"),
        (
            "job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,"
            "expect_value_list,best_effort,job_type\n0,a,1,0,100,resnet50,90,0,105,1,0,train\n",
            "1.txt: line 1: the column 'expect_time_list' belongs to the format Chronus simulator trace, whose times "
            "are minutes; this format would read them as seconds. Select Chronus simulator trace, or let",
        ),
        (
            TRACE.replace("interval", "iteration_time"),
            "1.txt: line 1: the column 'iteration_time' belongs to the format Muri simulator trace, whose times are "
            "milliseconds; this format would read them as seconds",
        ),
    ],
)
def test_what_cannot_be_a_trace_is_refused(text, sentence):
    with pytest.raises(ImportRefused, match=sentence):
        read_texts(tiresias, text)


def test_the_published_trace(traces):
    """60 jobs, 26,624 GPU-seconds, 10 models of 6 jobs each; its cluster has 16 x 4 GPUs."""
    drafts = read_texts(tiresias, (traces / "tiresias/60_job.csv").read_bytes()).drafts
    assert Counter(drafts.workers.tolist()) == {1: 30, 2: 10, 4: 10, 8: 10}
    assert int((drafts.run_ms * drafts.workers).sum()) == 26_624_000
    assert set(Counter(drafts.known["model"].tolist()).values()) == {6}
    assert not np.isnan(drafts.known["gradient_mb"]).any()
    assert int(drafts.arrival_ms[-1]) == 1_779_000


def test_the_published_durations_are_refused(traces):
    with pytest.raises(ImportRefused, match=r"yarn-gput1000\.csv: line 1: the only column is duration"):
        read(traces / "tiresias/yarn-gput1000.csv")
