"""Load of slurmctld by a follower, 5,000 jobs waiting: its processor time with a follower less that without one.

The page of a cluster states the same from the controller's own count of calls (`sdiag`).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
from django.conf import settings

from benchmarks import Figure, Skip
from benchmarks._pixels import NAME, load_figure, manage
from benchmarks._slurm import Slurm, slurm
from benchmarks._stack import bus, environment

TITLE = "load of slurmctld by a follower, 5,000 waiting jobs"
WAITING = 5_000
WINDOW_S, SETTLE_S = 60.0, 10.0
TARGETS = {1_000: 3.0, 5_000: 0.6}  # ms between two polls: percent of one core
HEALTH = """
import django, json; django.setup()
from twin.models import Connection
print(json.dumps(Connection.objects.get().health))
"""


def run() -> list[Figure]:
    """Figures with a follower, and without one before and after, as the controller's own work varies."""
    if sys.platform != "linux":
        raise Skip("the time of a process is read from /proc, which only Linux has")
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as name, slurm(Path(name) / "slurm") as cluster:
        cluster.fill(WAITING)
        time.sleep(SETTLE_S)
        alone = [_percent(cluster)]
        followed = {}
        for interval_ms in TARGETS:
            followed[interval_ms] = _followed(cluster, Path(name) / str(interval_ms), interval_ms)
            alone.append(_percent(cluster))
    without = sum(alone) / len(alone)
    figures = [Figure(f"slurmctld alone, mean of {len(alone)} minutes", without, "% core")]
    for interval_ms, (percent, stated) in followed.items():
        what = f"polls each {interval_ms / 1_000:g} s"
        figures.append(Figure(f"{what}: added", percent - without, "% core", TARGETS[interval_ms]))
        figures.append(Figure(f"{what}: as the page states it", stated, "% core", TARGETS[interval_ms]))
    spread = max(alone) - min(alone)
    return [*figures, Figure("largest difference of two minutes alone", spread, "% core"), load_figure()]


def _followed(cluster: Slurm, folder: Path, interval_ms: int) -> tuple[float, float]:
    """Percent of a core that slurmctld takes while it is followed, and that the connection states for the follower."""
    folder.mkdir()
    manage(folder, "migrate", "-v", "0")
    manage(folder, "connect", "slurm", "--name", NAME, "--param", f"conf={cluster.conf}",
           "--param", f"interval_ms={interval_ms}")  # fmt: skip
    with bus(folder) as url:
        env = environment(folder) | {"LAYER_URL": url}
        follower = subprocess.Popen([sys.executable, str(settings.BASE_DIR / "manage.py"), "follower"], env=env)
        try:
            time.sleep(SETTLE_S)
            percent = _percent(cluster)
            command = [sys.executable, "-c", HEALTH]
            health = orjson.loads(subprocess.run(command, env=env, cwd=settings.BASE_DIR, capture_output=True).stdout)
        finally:
            follower.terminate()
            follower.wait(30)
    return percent, health["cost"]["share"] * 100


def _percent(cluster: Slurm) -> float:
    """Percent of a core that slurmctld takes within a window from now on."""
    pid, ticks = cluster.daemons["slurmctld"].pid, os.sysconf("SC_CLK_TCK")
    before, began = _ticks(pid), time.monotonic()
    time.sleep(WINDOW_S)
    return (_ticks(pid) - before) / ticks / (time.monotonic() - began) * 100


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
