"""Memory that a process frees is returned to the system."""

import subprocess
import sys

import pytest

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
