from collections import Counter

import numpy as np
import pytest

from tests.twin.importers.reading import read_texts
from twin.traces.importers import ImportRefused, elasticflow, muri, tiresias

HEADER = (
    "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,"
    "resource_time_0,resource_time_1,resource_time_2,priority\n"
)
TRACE = HEADER + "0,4,5000,100,bert,4,19000,0,190,0.5,163,18,0\n1,1,6500,7,resnet18,,1000,1500,886,703,62,17,1\n"


def test_times_are_milliseconds():
    drafts = read_texts(muri, TRACE).drafts
    assert drafts.arrival_ms.tolist() == [0, 1_500]
    assert drafts.run_ms.tolist() == [19_000, 1_000]
    assert drafts.known["global_batch"][0] == 4
    assert np.isnan(drafts.known["global_batch"][1])


def test_it_is_distinguished_from_the_others_by_iteration_time():
    assert [module.sniff(TRACE.encode())[0] for module in (muri, tiresias, elasticflow)] == [True, False, False]
    assert muri.sniff(TRACE.replace("iteration_time", "t").encode())[1] == "the column 'iteration_time' is missing"


def test_a_missing_column_is_named():
    for column in ("batch_size", "iteration_time"):
        with pytest.raises(ImportRefused, match=f"the column '{column}' is missing"):
            read_texts(muri, TRACE.replace(column, "other"))


def test_the_published_trace(traces):
    """992 jobs on 9,346 GPUs, 116,690.1 GPU-hours, over 94.5 days."""
    drafts = read_texts(muri, (traces / "muri/trace3.csv").read_bytes()).drafts
    assert Counter(drafts.workers.tolist()) == {1: 134, 2: 22, 4: 34, 8: 691, 16: 3, 32: 108}
    assert int(drafts.workers.sum()) == 9_346
    assert (drafts.run_ms * drafts.workers).sum() / 3_600_000 == pytest.approx(116_690.1, abs=0.05)
    assert int(drafts.arrival_ms.max()) == 8_166_025_000
    assert not np.isnan(drafts.known["gradient_mb"]).any()
