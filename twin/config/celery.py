"""The Celery application: `celery -A twin worker -Q runs`, `-Q long` and `-Q io,certificates`."""

import logging
import os
import signal
import time
from typing import Any

from celery import Celery
from celery.signals import (
    before_task_publish,
    task_failure,
    task_postrun,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

from twin.processes import shutdown

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "twin.config.settings")
# Celery reads this one. Checks of Django would import every page: 40 MB and half a second a worker.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

NICENESS = 5  # of pool children, which compute as much as they get

_pulse: Any = None  # of this process
_task_began = 0.0  # of the task of this process; monotonic

app = Celery("twin")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def share_memory(**_: Any) -> None:
    """Start of a worker: imported modules are shared with the pool children, whose collectors skip them."""
    from twin.infra import gc_control

    logging.getLogger("celery.worker.request").addFilter(shutdown.WithoutOwnEnds())
    gc_control.spare()


@worker_process_init.connect
def leave_with_the_worker(**_: Any) -> None:
    """A pool child does not outlive its worker, not even when that one is killed."""
    from twin.processes.supervisor import die_with_parent

    os.nice(NICENESS)  # pages are answered first; it costs nothing where a core is free
    shutdown.in_pool()
    _set_pool()
    die_with_parent(signal.SIGKILL)
    if os.getppid() == 1:  # the worker ended before the request above
        os._exit(1)
    _beat(pool_child=True)


def _set_pool() -> None:
    """Child process of a worker: one of the quick worker passes long computations on.

    The others have a lower priority.
    """
    from twin.runs import pools

    queues = app.amqp.queues.consume_from
    pools.set_yields(pools.QUICK in queues and pools.LONG not in queues)
    if pools.LONG in queues and pools.QUICK not in queues:
        os.nice(pools.NICENESS)


@before_task_publish.connect
def send_task(headers: dict[str, Any] | None = None, **_: Any) -> None:
    """Headers of a message that name the trace that sends it."""
    from twin.infra import tracing

    if headers is not None:
        tracing.into_message(headers)


@task_prerun.connect
def begin_task(task_id: str = "", task: Any = None, **_: Any) -> None:
    """Start of a task's duration and span, and its id for log lines."""
    from twin.config import json_logs
    from twin.infra import tracing

    global _task_began
    _task_began = time.monotonic()
    json_logs.task_id.set(task_id)
    tracing.begin_task(task_id, task.name, task.request)


@task_postrun.connect
def end_task(task_id: str = "", task: Any = None, state: str | None = None, **_: Any) -> None:
    """Counters of the task. A pool child lives for weeks, so freed memory of runs and imports is given back."""
    from twin.infra import counters, memory, tracing

    name = task.name.rpartition(".")[2]
    counters.count("tasks", name, (state or "unknown").lower())
    counters.observe("task_seconds", time.monotonic() - _task_began, name)
    tracing.end_task(task_id, state or "")
    memory.give_back_at_times()


@task_failure.connect
def note_failure(exception: BaseException | None = None, **_: Any) -> None:
    """Exception of a task that has failed, in its span."""
    from twin.infra import tracing

    if exception is not None:
        tracing.note_failure(exception)


@worker_ready.connect
def dispatch(**_: Any) -> None:
    """Watch of the main process, which distributes the tasks: without it, its pool children stay idle."""
    _beat(pool_child=False)


def _beat(*, pool_child: bool) -> None:
    from twin.infra import tracing
    from twin.processes import heartbeat
    from twin.processes.intake import Intake

    global _pulse
    queues = list(app.amqp.queues.consume_from)
    kind = next((kind for queue, kind in heartbeat.WORKERS.items() if queue in queues), heartbeat.BACKGROUND)
    if pool_child:
        tracing.start(kind)
        _pulse = heartbeat.Pulse(kind).start()
    else:
        _pulse = heartbeat.Pulse(heartbeat.dispatcher(kind))
        _pulse.fault = Intake(app.connection_for_read(), _pulse.name, queues).start().fault
        _pulse.start()


@worker_process_shutdown.connect
@worker_shutdown.connect
def end_pulse(**_: Any) -> None:
    """Removal of the heartbeat of a process that ends normally; its last spans are sent."""
    from twin.infra import tracing

    if _pulse is not None:
        _pulse.stop()
    tracing.stop()


@worker_shutting_down.connect
def end_slices(**_: Any) -> None:
    """Stop request: a worker ends its slices at their next batch."""
    shutdown.ask()
