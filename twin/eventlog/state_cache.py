"""Cache of the folded states of open runs, updated batch by batch."""

from __future__ import annotations

from twin.eventlog import large_runs
from twin.eventlog.fold import RunState
from twin.eventlog.stored_states import at
from twin.infra.kept import KEPT
from twin.models import Run


class Newest:
    """Context with the state after the run's newest event, under a lock: `with Newest(run) as state`.

    Jobs and servers of a run whose log adds them (`store.of_run`) are read inside it, or after it: read before, they
    may lack some that the state has. TooLarge for a large run.
    """

    def __init__(self, run: Run) -> None:
        large_runs.check(run)
        self.run = run
        self.key = ("state", run.pk)
        self.lock = KEPT.lock(self.key)

    def __enter__(self) -> RunState:
        self.lock.__enter__()
        try:
            known: RunState | None = KEPT.take(self.key)
            seq = None if known is None else known.last_seq
            state = at(self.run.pk, state=known)
            return KEPT.put(self.key, state, same=state is known and state.last_seq == seq)
        except BaseException:
            self.lock.__exit__()
            raise

    def __exit__(self, *error: object) -> None:
        self.lock.__exit__()


def forget() -> None:
    """Removal of all states from the cache."""
    KEPT.clear("state")
