"""ElasticFlow trace: `job_id,submit_time,iteration,model_name,ddl,batch_size,num_gpu,duration`, in seconds.

`ddl` is an absolute time; from the submission on it is the job's target. The duration is that on num_gpu GPUs.
`model_name` may be a data set; the model trained on it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from twin.traces.importers._shared.simulators import read_gangs
from twin.traces.importing.drafts import Read, ReadOptions, Source
from twin.traces.uploads.tables import Portion, closeness, header

FORMAT = "elasticflow"
TITLE = "ElasticFlow simulator trace"
TIME_UNIT = "s"
COLUMNS = ("job_id", "submit_time", "iteration", "model_name", "ddl", "batch_size", "num_gpu", "duration")


def sniff(head: bytes) -> tuple[bool, str, float]:
    """(fits, why, closeness) from the header."""
    return closeness(header(head), COLUMNS)


def read(sources: Sequence[Source], options: ReadOptions) -> Read:
    """Rows to drafts; arrival counts from the first job."""
    notes = [
        "Times are seconds; ddl - submit_time is the target of a job's utility.",
        "The model imagenet is read as resnet-50, cifar10 as resnet-18.",
    ]
    return read_gangs(sources, options, COLUMNS, 1000, notes, model_origin="derived", target=_target)


def _target(portion: Portion) -> NDArray[np.float64]:
    return portion.numbers("ddl") - portion.numbers("submit_time")
