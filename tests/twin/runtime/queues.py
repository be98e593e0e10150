"""The queues of the tests: what was enqueued, and a worker for it in this process."""

import queue

from twin import tasks
from twin.analysis import certificate_task, state_task
from twin.config.celery import app
from twin.traces import import_task


def messages(name: str = "runs") -> list[tuple[str, int]]:
    """Takes what was enqueued: [(task, id)]."""
    found = []
    with app.connection_for_read() as connection:
        waiting = connection.SimpleQueue(name)
        while True:
            try:
                message = waiting.get(block=False)
            except queue.Empty:
                return found
            message.ack()
            found.append((message.headers["task"], message.payload[0][0]))


# What workers do in a process of its own happens in this one, which has the tests' database.
IN_PROCESS = {"certify_run": certificate_task.run, "store_state": state_task.run, "import_trace": import_task.run}


def work(name: str = "runs") -> int:
    """Does what was enqueued, and what that enqueues, as a worker would; returns the number of tasks."""
    done = 0
    while waiting := messages(name):
        for task, key in waiting:
            verb = task.rpartition(".")[2]
            IN_PROCESS.get(verb, getattr(tasks, verb))(key)
            done += 1
    return done


def drop_messages() -> None:
    with app.connection_for_read() as connection:
        for name in ("runs", "long", "io", certificate_task.QUEUE):
            connection.SimpleQueue(name).clear()
