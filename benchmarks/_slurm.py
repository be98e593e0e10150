"""A real Slurm for the rows that follow one: munged, slurmctld and four slurmd in a temporary folder."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import Skip

PROGRAMS = ("slurmctld", "slurmd", "squeue", "munged", "mungekey")
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"
NODES, CPUS, GPUS = 4, 8, 4
MAX_WAIT_S = 60.0
AT_ONCE = "4"  # submissions
SETTINGS = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
SlurmctldPort={port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
ReturnToService=2
GresTypes=gpu
MaxJobCount=20000
"""
NODE = "NodeName={names} {address} CPUs={cpus} RealMemory=16000 Gres=gpu:{gpus} State={state}\n"


class Slurm:
    """A running cluster. `absent`: nodes that it only knows, which are down."""

    def __init__(self, folder: Path, absent: int, settings: str) -> None:
        self.folder, self.conf = folder, folder / "slurm.conf"
        self.environment = os.environ | {"PATH": PATH, "SLURM_CONF": str(self.conf), "LC_ALL": "C"}
        self.port = _free_ports(NODES + 1)
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        host = socket.gethostname().partition(".")[0]
        text = SETTINGS.format(host=host, user=getpass.getuser(), folder=folder, port=self.port) + settings
        for number in range(NODES):
            address = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={self.port + 1 + number}"
            text += NODE.format(names=f"edge{number}", address=address, cpus=CPUS, gpus=GPUS, state="UNKNOWN")
        text += f"PartitionName=edge Nodes=edge[0-{NODES - 1}] Default=YES MaxTime=INFINITE State=UP\n"
        if absent:
            text += NODE.format(names=f"far[1-{absent}]", address="NodeAddr=127.0.0.1", cpus=64, gpus=8, state="DOWN")
            text += f"PartitionName=far Nodes=far[1-{absent}] MaxTime=INFINITE State=UP\n"
        self.conf.write_text(text)
        for gpu in range(GPUS):  # slurmd accepts only GPUs that have a device
            (folder / f"gpu{gpu}").symlink_to("/dev/null")
        (folder / "gres.conf").write_text(
            "".join(f"NodeName=edge{n} Name=gpu File={folder}/gpu[0-{GPUS - 1}]\n" for n in range(NODES))
        )

    def start(self) -> None:
        """Start of the daemons; it returns when every node has registered."""
        for place in ("state", *(f"spool/edge{number}" for number in range(NODES))):
            (self.folder / place).mkdir(parents=True)
        files = {"key-file": "munge.key", "socket": "munge.socket", "pid-file": "munged.pid",
                 "log-file": "munged.log", "seed-file": "munged.seed"}  # fmt: skip
        self.run("mungekey", "--create", f"--keyfile={self.folder / files['key-file']}")
        options = [f"--{option}={self.folder / name}" for option, name in files.items()]
        self._daemon("munged", "--foreground", "--force", *options)
        self._until((self.folder / files["socket"]).exists, "munged listens")
        self._daemon("slurmctld", "-D", "-f", str(self.conf))
        for number in range(NODES):
            self._daemon("slurmd", "-D", "-f", str(self.conf), "-N", f"edge{number}")
        self._until(
            lambda: self._answer("sinfo", "-hN", "-p", "edge", "-o", "%t").split() == ["idle"] * NODES, "nodes are idle"
        )

    def stop(self) -> None:
        """End of all jobs and daemons."""
        try:
            if "slurmctld" in self.daemons:
                self._answer("scancel", "-u", getpass.getuser())
                running = ("squeue", "-h", "-t", "running,completing")
                self._until(lambda: not self._answer(*running).strip(), "jobs have ended")
        finally:
            for daemon in reversed(self.daemons.values()):
                daemon.terminate()
            for daemon in self.daemons.values():
                daemon.wait(30)

    def run(self, *argv: str) -> str:
        """Output of a command; RuntimeError if it fails."""
        done = subprocess.run(argv, env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{' '.join(argv[:3])} failed: {done.stderr.strip()}")
        return done.stdout

    def fill(self, waiting: int) -> None:
        """Jobs that hold all nodes for the rest of the measurement, and n jobs that wait for them."""
        for _ in range(NODES):
            self.run("sbatch", "--exclusive", f"--gres=gpu:{GPUS}", "-N1", "-t", "1-0", "--wrap=sleep 86400")
        self._until(lambda: self._count("running") == NODES, "all nodes are held")
        self.submit(waiting)

    def submit(self, number: int) -> None:
        """Submission of n more jobs of different sizes, which wait."""
        script = self.folder / "waits.sh"
        script.write_text("#!/bin/sh\nsleep 60\n")
        before = self._count("pending")
        words = "".join(f"--gres=gpu:{1 + n % GPUS} -t {10 + n % 50} -N {1 + n % 2}\n" for n in range(number))
        subprocess.run(
            ["xargs", "-P", AT_ONCE, "-I{}", "sh", "-c", f"sbatch -Q {{}} {script}"],
            input=words, text=True, check=True, env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        self._until(lambda: self._count("pending") == before + number, "all jobs wait")

    def _count(self, state: str) -> int:
        return len(self.run("squeue", "-h", "-t", state, "-o", "%A").split())

    def _answer(self, *argv: str) -> str:
        """Output of a command, also when it fails."""
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True, timeout=120).stdout

    def _daemon(self, name: str, *words: str) -> None:
        with (self.folder / "daemons.log").open("ab") as log:
            found = subprocess.Popen(
                [shutil.which(name, path=PATH) or name, *words], env=self.environment, stdout=log, stderr=log
            )
        self.daemons[name + words[-1] if name == "slurmd" else name] = found

    def _until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + MAX_WAIT_S
        while not holds():
            if time.monotonic() > deadline:
                log = (self.folder / "daemons.log").read_text()[-2_000:]
                raise RuntimeError(f"Slurm: timed out after {MAX_WAIT_S:g} s: {what}; {log}")
            time.sleep(0.1)


@contextmanager
def slurm(folder: Path, *, absent: int = 0, settings: str = "") -> Iterator[Slurm]:
    """A cluster as long as it is needed; Skip where Slurm is not installed. settings: more lines of slurm.conf."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    if missing:
        packages = "slurmctld slurmd slurm-client munge slurm-wlm-basic-plugins"
        raise Skip(f"{', '.join(missing)} missing (Debian: apt-get install {packages})")
    folder.mkdir()
    cluster = Slurm(folder, absent, settings)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def _free_ports(count: int) -> int:
    """The first of n ports in a row on which nothing listens."""
    for first in range(21_000, 30_000, count):
        try:
            for port in range(first, first + count):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise RuntimeError(f"no {count} free ports in a row between 21000 and 30000")
