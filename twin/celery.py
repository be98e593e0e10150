"""The Celery application: `celery -A twin worker -Q runs,io`."""

import os
import signal
from typing import Any

from celery import Celery
from celery.signals import worker_process_init, worker_shutting_down

from twin import stopping

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.settings")

app = Celery("twin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_process_init.connect
def leave_with_the_worker(**_: Any) -> None:
    """A pool child does not outlive its worker, not even when that one is killed."""
    from twin.processes import die_with_parent

    die_with_parent(signal.SIGKILL)
    if os.getppid() == 1:  # the worker was gone before the request above
        os._exit(1)


@worker_shutting_down.connect
def end_slices(**_: Any) -> None:
    """A worker that was asked to stop ends its slices at their next batch."""
    stopping.ask()
