"""A pool child that ends itself, and what its worker logs about it."""

import logging
import os

from billiard.common import human_status

from twin.processes import shutdown


def test_a_child_that_ends_itself_is_no_error():
    """The worker's error about a lost child is logged for every other signal."""
    child = os.fork()
    if child == 0:
        shutdown.in_pool()
        shutdown.free_process()
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == -shutdown.OWN_END
    kept = shutdown.WithoutOwnEnds().filter

    def lost(status: int) -> logging.LogRecord:
        text = f"Worker exited prematurely: {human_status(status)} Job: 3."
        return logging.LogRecord("celery.worker.request", logging.ERROR, "", 1, "%s", (text,), None)

    assert [kept(lost(status)), kept(lost(-9)), kept(lost(-11))] == [False, True, True]
