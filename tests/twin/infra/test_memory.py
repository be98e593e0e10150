"""Memory that a process frees is returned to the system."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from twin.config import celery
from twin.infra import memory

FREED = """
from pathlib import Path
from twin.infra.memory import give_back

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) // 1_000

pieces = [bytes(4_000) for _ in range(20_000)]
last = pieces[-1]  # on top of the heap: what lies below stays with the process
del pieces
before = resident()
print(give_back(), before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc, which only Linux has")
def test_freed_memory_is_returned_to_the_system():
    done = subprocess.run([sys.executable, "-c", FREED], capture_output=True, text=True, check=True)
    returned, megabytes = done.stdout.split()
    if returned == "False":
        pytest.skip("this C library cannot")
    assert int(megabytes) > 60, "of 80 MB that were freed"


def test_it_is_returned_once_a_minute_at_most(monkeypatch):
    calls, now = [], [1_000.0]
    monkeypatch.setattr(memory.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(memory, "give_back", lambda: calls.append(now[0]))
    monkeypatch.setattr(memory, "_given_back_at", 0.0)
    for at in (1_000.0, 1_030.0, 1_060.0, 1_119.9, 1_120.0):
        now[0] = at
        memory.give_back_at_times()
    assert calls == [1_000.0, 1_060.0, 1_120.0]


def test_each_task_gives_memory_back_and_a_large_pool_child_is_replaced(monkeypatch, settings):
    calls = []
    monkeypatch.setattr(memory, "give_back_at_times", lambda: calls.append(1))
    celery.end_task("id", SimpleNamespace(name="twin.tasks.advance_run"), "SUCCESS")
    assert calls == [1]
    assert 0 < settings.CELERY_WORKER_MAX_MEMORY_PER_CHILD <= 1_000_000, "kB"
