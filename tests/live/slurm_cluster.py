"""A real Slurm cluster for the tests: four nodes of 8 CPUs and 4 GPUs here, by a script beside the repository."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from twin.connectors import base

SCRIPT = Path(
    os.environ.get("TWIN_SLURM_SCRIPT") or Path(__file__).resolve().parents[3] / "shared" / "slurm" / "slurm-cluster"
)
COMMANDS = ("slurmctld", "slurmd", "squeue", "munged")
PATH = f"{os.environ['PATH']}:/usr/sbin"
MAX_WAIT_S = 60


def missing():
    """Why there can be no cluster here; "" if there can."""
    if not SCRIPT.is_file():
        return f"No real Slurm: the script that starts one is not at {SCRIPT}"
    absent = [name for name in COMMANDS if shutil.which(name, path=PATH) is None]
    return (
        f"No real Slurm: {', '.join(absent)} missing (apt-get install slurmctld slurmd slurm-client munge)"
        if absent
        else ""
    )


def has_database():
    """Whether slurmdbd can run: it needs a MariaDB whose root has no password."""
    if shutil.which("slurmdbd", path=PATH) is None or shutil.which("mariadb") is None:
        return False
    return subprocess.run(["mariadb", "-e", "select 1"], capture_output=True, timeout=20).returncode == 0


NEEDS_SECOND_ACCOUNT = (
    pytest.mark.skipif(bool(missing()), reason=missing()),
    pytest.mark.skipif(not has_database(), reason="no accounting: slurmdbd or a MariaDB without a password is missing"),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("setpriv") is None, reason="a second account needs root and setpriv"
    ),
)
AS_NOBODY = "setpriv --reuid=65534 --clear-groups"  # the second account


def until(condition, what):
    """The first true value of the condition."""
    end = time.monotonic() + MAX_WAIT_S
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    pytest.fail(f"did not come true within {MAX_WAIT_S} s: {what}")


def processes(name, *arguments):
    """Ids of the processes of this command with these arguments."""
    wanted = {str(argument).encode() for argument in arguments}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            argv = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if argv[0].endswith(name.encode()) and wanted <= set(argv):
            yield int(process.name)


@contextmanager
def with_second_account(base_port, extra_conf):
    """A cluster with accounting, in a folder that the account nobody may read; it is one of its users."""
    folder = Path(tempfile.mkdtemp(prefix="twin-slurm-"))
    folder.chmod(0o755)  # slurm.conf and munge's socket
    cluster = Cluster(folder / "c", base_port, extra_conf, accounting=True)
    try:
        cluster.start()
        cluster.run("sacctmgr", "-i", "add", "user", "nobody", "account=root")
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """A running cluster; its connectors are those of the twin."""

    def __init__(self, folder, base_port, extra_conf="", accounting=False):
        self.folder, self.conf = folder, folder / "slurm.conf"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "extra.conf").write_text(extra_conf)
        self.accounting = accounting
        self.environment = os.environ | {
            "PATH": PATH, "SLURM_CONF": str(self.conf), "SLURM_BASE_PORT": str(base_port),
            "SLURM_EXTRA_CONF": str(folder / "extra.conf"), "LC_ALL": "C", "SLURM_TIME_FORMAT": "%s",
        } | ({"SLURM_ACCOUNTING": "1"} if accounting else {})  # fmt: skip
        self.connectors = []

    def start(self):
        with (self.folder / "start.log").open("w") as log:  # a pipe would stay open in the daemons
            code = subprocess.run(
                [str(SCRIPT), "start", str(self.folder), "4"], env=self.environment, stdout=log, stderr=log, timeout=120
            ).returncode
        assert code == 0, (self.folder / "start.log").read_text()

    def stop(self):
        for connector in self.connectors:
            connector.close()
        subprocess.run(
            [str(SCRIPT), "stop", str(self.folder)], env=self.environment, stdout=subprocess.DEVNULL, timeout=120
        )

    def call(self, *argv):
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True, timeout=60, cwd=self.folder)

    def run(self, *argv):
        done = self.call(*argv)
        assert done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    def sbatch(self, *options, wrap="sleep 600"):
        """The number of a new job."""
        return self.run("sbatch", "--parsable", *options, f"--wrap={wrap}").strip()

    def connector(self, **parameters):
        """A connector to this cluster."""
        made = base.build("slurm", {"conf": str(self.conf), **parameters})
        self.connectors.append(made)
        return made

    def clear(self):
        """Ends all jobs, and gives all nodes back."""
        whole = "squeue -h -o %i | sed 's/[+_].*//' | sort -u | xargs -r scancel"  # a part of a job cannot be cancelled
        self.run("bash", "-c", whole)
        until(lambda: not self.run("squeue", "-h").strip(), "no job is left")
        self.resume()

    def resume(self):
        """Gives nodes back that are drained or down."""
        drained = self.run(
            "bash", "-c", "sinfo -hN -o '%N %T' | grep -E 'drain|down' | cut -d' ' -f1 | sort -u"
        ).split()
        for node in drained:
            done = self.call("scontrol", "update", f"nodename={node}", "state=resume")
            assert done.returncode == 0 or "Invalid node state" in done.stderr, done.stderr  # it came back by itself

    def forget(self):
        """The controller starts again with an empty state: no jobs, numbers from 1; the nodes have lost theirs too."""
        self.kill("slurmctld", how=signal.SIGTERM)
        until(lambda: not list(processes("slurmctld", self.conf)), "slurmctld has ended")
        nodes = list(processes("slurmd", self.conf))
        for pid in (*nodes, *self.steps()):  # a node refuses another job with the number of one that it ran
            os.kill(pid, signal.SIGKILL)
        until(lambda: not (self.steps() or list(processes("slurmd", self.conf))), "the nodes have ended")
        for i in range(1, len(nodes) + 1):
            self.run("slurmd", "-c", "-f", str(self.conf), "-N", f"edge{i}")
        shutil.rmtree(self.folder / "state")
        (self.folder / "state").mkdir()
        self.run("slurmctld", "-f", str(self.conf))
        until(lambda: "UP" in self.answer("scontrol", "ping"), "slurmctld is back")

    def steps(self):
        """Ids of the processes that run this cluster's jobs."""
        mine = f"SLURM_CONF={self.conf}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text() == "slurmstepd\n" and mine in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:
                continue
        return found

    def answer(self, *argv):
        """What a command prints, whether or not it fails."""
        return subprocess.run(argv, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def pid(self, name, argument=""):
        """The process id of a daemon of this cluster."""
        for pid in processes(name, str(self.conf), *([argument] if argument else [])):
            return pid
        pytest.fail(f"there is no {name} of {self.conf}")

    def kill(self, name, argument="", how=signal.SIGKILL):
        pid = self.pid(name, argument)
        os.kill(pid, how)
        return pid


if __name__ == "__main__":  # bin/test says with it what is skipped
    if absent := missing():
        print(f"Tests with a real Slurm are skipped. {absent}")
    elif not has_database():
        print(
            "Tests with a real Slurm run without accounting: slurmdbd, or a MariaDB "
            "whose root has no password, is missing"
        )
