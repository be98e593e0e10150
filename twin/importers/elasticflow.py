"""ElasticFlow simulator trace: `job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration`, times in seconds.

`ddl` is an absolute time; from the submission on it is the job's target. The duration is that on num_gpu GPUs. `model_name` may be a data
set, which stands for the model trained on it.
"""

from __future__ import annotations

from collections.abc import Sequence

from twin.importers.drafts import Ask, Read, Source
from twin.importers.simulators import read_gangs
from twin.importers.tables import closeness, header

FORMAT = "elasticflow"
TITLE = "ElasticFlow simulator trace"
COLUMNS = ("job_id", "submit_time", "iteration", "model_name", "ddl", "batch_size", "num_gpu", "duration")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], ask: Ask) -> Read:
    """Rows to drafts; arrival counts from the first job."""
    notes = [
        "Times are seconds; ddl - submit_time is the target of a job's utility.",
        "imagenet stands for resnet-50 and cifar10 for resnet-18.",
    ]
    return read_gangs(sources, ask, COLUMNS, 1000, "derived", notes)
