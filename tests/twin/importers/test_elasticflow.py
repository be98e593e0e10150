from collections import Counter

import numpy as np

from tests.twin.importers.reading import read_texts
from twin.traces.importers import elasticflow, muri, tiresias

TRACE = (
    "job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration\n"
    "0,3715485,2011,cifar10,3719996,4096,1,5644\n"
    "1,3717550,1548,ncf,3717550,32768,8,66\n2,3717551,1548,ncf,x,32768,8,66\n"
)


def test_the_deadline_is_the_target():
    """It is an absolute time; one that is the submission itself, or no number, is none."""
    drafts = read_texts(elasticflow, TRACE).drafts
    assert drafts.arrival_ms.tolist() == [0, 2_065_000, 2_066_000]
    assert drafts.known["target_ms"][0] == 4_511_000
    assert np.isnan(drafts.known["target_ms"][1:]).all()
    assert drafts.known["model"].tolist() == ["resnet-18", "ncf", "ncf"]
    assert drafts.known["global_batch"].tolist() == [4096, 32768, 32768]
    assert drafts.origins["model"] == "derived"


def test_it_is_distinguished_from_the_others():
    assert [module.sniff(TRACE.encode())[0] for module in (elasticflow, tiresias, muri)] == [True, False, False]


def test_the_published_trace(traces):
    """195 jobs, 33,457,859 GPU-seconds; every deadline is after its submission, 94 before submission + duration."""
    drafts = read_texts(elasticflow, (traces / "elasticflow/elasticVpollux_e.csv").read_bytes()).drafts
    assert Counter(drafts.workers.tolist()) == {1: 118, 2: 1, 4: 45, 8: 28, 16: 3}
    assert int((drafts.run_ms * drafts.workers).sum()) == 33_457_859_000
    assert int(drafts.arrival_ms.max()) == (3_887_530 - 3_715_485) * 1000
    target = drafts.known["target_ms"]
    assert not np.isnan(target).any()
    assert int((target < drafts.run_ms).sum()) == 94
