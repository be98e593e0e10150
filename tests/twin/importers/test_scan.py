"""Sizes of jobs in a scan: by GPUs, or by workers where GPUs do not tell jobs apart."""

import numpy as np

from twin.traces.importing.scan import sizes_of

WORKERS = np.array([1, 2, 2, 32])


def test_jobs_with_gpus_are_counted_by_them():
    assert sizes_of(WORKERS, np.array([1000, 1000, 500, 0])) == {"gpus": [[0.0, 1], [1.0, 2], [2.0, 1]]}


def test_jobs_without_gpus_or_with_unknown_ones_are_counted_by_workers():
    by_workers = {"workers": [[1.0, 1], [2.0, 2], [32.0, 1]]}
    assert sizes_of(WORKERS, np.zeros(4, int)) == by_workers
    assert sizes_of(WORKERS, np.array([1000, 1000, -1, 0])) == by_workers
