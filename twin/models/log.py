"""The event log of a run, its checkpoints, and states folded from it."""

from __future__ import annotations

import zlib
from typing import Any

from django.db import models

from twin.models.runs import Run

PACKED = b"zlib:"  # before compressed content; batch_codec begins otherwise


class BatchField(models.BinaryField):
    """A batch (eventlog/batch_codec.py), stored as it is or compressed (eventlog/packing.py)."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        """The batch, unpacked."""
        if value is not None and bytes(value[: len(PACKED)]) == PACKED:
            return zlib.decompress(memoryview(value)[len(PACKED) :])
        return value


def compressed(batch: bytes) -> bytes:
    """The batch in the form that the field unpacks."""
    return PACKED + zlib.compress(batch, 6)


class EventBatch(models.Model):
    """Consecutive events of one run in one row (see event_log.py for the payload)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    first_ms = models.BigIntegerField()
    last_ms = models.BigIntegerField()
    payload = BatchField()

    class Meta:
        ordering = ["first_seq"]
        constraints = [models.UniqueConstraint(fields=["run", "first_seq"], name="batch_starts_once")]
        # "after seq" of a reconnecting page
        indexes = [models.Index(fields=["run", "last_seq"], name="batch_after_seq")]


class Checkpoint(models.Model):
    """A state of a run's simulation: the newest ones, and some before, from which forks begin (event_log.keep)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="checkpoints")
    seq = models.BigIntegerField()  # the state is the one right after this event
    payload = models.BinaryField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-seq"]
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="one_state_after_an_event")]


class FoldedState(models.Model):
    """Stored fold of a run's log up to an event (stored_states.py); computed again from the log if missing."""

    run = models.OneToOneField(Run, primary_key=True, on_delete=models.CASCADE, related_name="folded")
    version = models.IntegerField()  # of state_codec
    seq = models.BigIntegerField()
    sim_ms = models.BigIntegerField()  # time of that event
    payload = models.BinaryField()  # empty when the log cannot be folded
