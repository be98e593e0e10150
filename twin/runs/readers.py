"""Readers of runs: marks with an expiry on the frame bus.

A page, a comparison and an open socket mark their runs; automatic deletions (demo.py) check them first.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import redis

from twin.infra import pubsub

log = logging.getLogger(__name__)
KEPT_S = 3600  # after a page was opened or a socket was last heard
RENEW_S = 600.0  # an open socket renews its mark; so does an open comparison (static/js/pages/compare.js)


def key(run_id: int) -> str:
    """Key of the mark of a run."""
    return f"twin:read:{run_id}"


def mark(*run_ids: int) -> None:
    """Registration of readers of these runs. Without the bus nothing fails: nothing is deleted then."""
    try:
        with pubsub.client().pipeline(transaction=False) as pipeline:
            for run_id in run_ids:
                pipeline.set(key(run_id), 1, ex=KEPT_S)
            pipeline.execute()
    except (redis.RedisError, OSError) as error:
        log.info("readers of the runs %s could not be registered: %s", run_ids, error)


def unread(run_ids: Sequence[int]) -> list[int]:
    """Runs among them that certainly have no reader; none if the bus does not respond."""
    if not run_ids:
        return []
    try:
        marks: Any = pubsub.client().mget([key(run_id) for run_id in run_ids])
    except (redis.RedisError, OSError):
        return []
    return [run_id for run_id, found in zip(run_ids, marks, strict=True) if found is None]


def forget(run_id: int) -> None:
    """Removal of the mark."""
    pubsub.client().delete(key(run_id))
