"""Time from the start or end of a job to a pixel, with the hook of docs/connect-slurm.md in a real slurmctld.

A start is timed from the first line of PrologSlurmctld, which slurmctld runs before it launches the job; an end from
the last line of the job's script, which is before slurmctld knows of it.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from benchmarks import Figure
from benchmarks._pixels import ENDED, STARTED, delays, figures, load_figure, watched
from benchmarks._slurm import Slurm, slurm

TITLE = "start and end of a job to pixel, with the hook"
SAMPLES, HELD, PORT = 120, 100, 17_999
PHASE, PAUSE_S = 0.618, 1.0  # submissions at all phases of a second
RUN_S = 1.7  # of a job
P50_S, P99_S = 0.15, 0.5
HOOK = """\
#!/bin/bash
printf '%s\\n' "$EPOCHREALTIME" >{folder}/$SLURM_JOB_ID.{when}
printf . > /dev/udp/127.0.0.1/{port}
exit 0
"""
JOB = f"""\
#!/bin/bash
sleep {RUN_S}
printf '%s\\n' "$EPOCHREALTIME" >$SLURM_JOB_ID.ended
"""


def run() -> list[Figure]:
    """Figures of jobs submitted one after the other, while others wait."""
    with tempfile.TemporaryDirectory(prefix="twin-bench-") as name:
        folder = Path(name)
        settings = _hooks(folder)
        with slurm(folder / "slurm", settings=settings) as cluster:
            for _ in range(HELD):
                cluster.run("sbatch", "--hold", "-n1", "--wrap=sleep 60")
            parameters = {"conf": cluster.conf, "hook_port": PORT}
            with watched(folder / "twin", "slurm", parameters, HELD) as page:
                _jobs(cluster)
                page.wait(ENDED, SAMPLES)
                drawn = page.drawn()
            started_ms, ended_ms = _times(folder, "start"), _times(folder / "slurm", "ended")
    return [
        *figures("start to pixel", delays(started_ms, drawn[STARTED]), P50_S, P99_S),
        *figures("end to pixel", delays(ended_ms, drawn[ENDED]), P50_S, P99_S),
        load_figure(),
    ]


def _hooks(folder: Path) -> str:
    """The scripts, which also write when they begin; lines of slurm.conf with them."""
    lines = ""
    for when, setting in (("start", "PrologSlurmctld"), ("end", "EpilogSlurmctld")):
        script = folder / f"{when}.sh"
        script.write_text(HOOK.format(folder=folder, when=when, port=PORT))
        script.chmod(0o755)
        lines += f"{setting}={script}\n"
    return lines


def _jobs(cluster: Slurm) -> None:
    script = cluster.folder / "job.sh"
    script.write_text(JOB)
    began = time.monotonic()
    for number in range(SAMPLES):
        time.sleep(max(0.0, began + number * (PAUSE_S + PHASE) - time.monotonic()))
        cluster.run("sbatch", "-n1", "--gres=gpu:1", "-t", "1", "-o", "/dev/null", str(script))


def _times(folder: Path, suffix: str) -> dict[str, float]:
    """{job: Unix ms that its script or hook wrote}."""
    return {file.stem: float(file.read_text()) * 1_000 for file in folder.glob(f"*.{suffix}")}
