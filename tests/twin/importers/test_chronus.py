import numpy as np
import pytest

from tests.twin.importers.reading import is_accounted, listed, read_texts
from tests.twin.importers.samples import SAMPLES
from twin.traces.importers import chronus, elasticflow, muri, read, tiresias

TRACE = SAMPLES["chronus"][0].decode()


def test_times_are_minutes():
    """Job 0 is submitted 5 minutes after the first and runs 747 minutes, not seconds."""
    drafts = read_texts(chronus, TRACE).drafts
    assert [f"{drafts.prefix}{key}" for key in drafts.keys] == ["j1", "j0", "j2"]
    assert drafts.arrival_ms.tolist() == [0, 5 * 60_000, 10 * 60_000]
    assert drafts.run_ms.tolist() == [122 * 60_000, 747 * 60_000, 33 * 60_000]
    assert drafts.workers.tolist() == [8, 1, 1]
    assert drafts.known["group"].tolist() == ["vc_b", "vc_a", "vc_a"]


def test_the_first_expected_time_is_the_target_but_of_best_effort_jobs():
    target = read_texts(chronus, TRACE).drafts.known["target_ms"]
    assert np.isnan(target[0])
    assert target[1:].tolist() == [1105 * 60_000, 98 * 60_000]


def test_it_is_distinguished_from_the_others_whose_times_have_other_units():
    assert [module.sniff(TRACE.encode())[0] for module in (chronus, tiresias, muri, elasticflow)] == [
        True,
        False,
        False,
        False,
    ]
    assert (
        tiresias.sniff(TRACE.encode())[1]
        == "the column 'user' belongs to another format, which may use another time unit"
    )
    more = TRACE.replace("num_gpu,", "num_gpu,batch_size,")
    assert chronus.sniff(more.encode())[:2] == (
        False, "the column 'batch_size' belongs to another format, which may use another time unit",
    )  # fmt: skip


def test_an_upload_is_recognized(tmp_path):
    """747 minutes on one GPU, whatever it trains."""
    path = tmp_path / "trace_job.csv"
    path.write_text(TRACE)
    result = read(path)
    assert result.format == "chronus"
    assert "Times are minutes." in result.report["notes"]
    assert [job.arrival_ms for job in result.jobs] == [0, 300_000, 600_000]


@pytest.mark.parametrize(
    ("row", "reason"),
    [("9,vc_a,0,1,1,vgg16,65,5,166,10,0,strict", "no_gpu"), ("9,vc_a,1,1,1,vgg16,1e9,5,1,10,0,strict", "run_too_long")],
)
def test_a_bad_row_is_left_out(row, reason):
    read = read_texts(chronus, TRACE + row + "\n")
    assert listed(read) == [("1.txt", 5, reason)]
    assert is_accounted(read)


def test_an_odd_target_is_none():
    target = read_texts(chronus, TRACE.replace("1105", "-").replace("98-148", "x-148")).drafts.known
    assert "target_ms" not in target
