"""A Slurm behind ssh, with a real sshd here: what works, and one clear sentence for each way in which it does not."""

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.live.slurm_cluster import until
from twin.connectors import base
from twin.connectors.facts import ConnectorError

SSHD = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(SSHD is None or shutil.which("ssh-keygen") is None, reason="no sshd (openssh-server)"),
]
SQUEUE = """#!/bin/sh
case $1 in --version) echo slurm-wlm 22.05.8; exit;; esac
case $SLURM_CONF in
    /hangs) exec sleep 600;;
    /floods) exec yes nothing;;
    /motd) echo Welcome;;
esac
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Remote:
    """An sshd on this host, with keys of its own; its Slurm is a folder of commands."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        for name in ("host", "key", "other"):
            subprocess.run(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True, timeout=30
            )
        (folder / "authorized_keys").write_text((folder / "key.pub").read_text())
        commands = folder / "bin"
        commands.mkdir()
        (commands / "squeue").write_text(SQUEUE)
        (commands / "squeue").chmod(0o755)
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile {folder}/sshd.pid\n"
            f"AuthorizedKeysFile {folder}/authorized_keys\nStrictModes no\nPasswordAuthentication no\n"
            f"KbdInteractiveAuthentication no\nUsePAM no\nSetEnv PATH={commands}:{os.environ['PATH']}\n"
        )
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self.log = (folder / "log").open("w")
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", str(folder / "sshd_config")], stderr=self.log)
        until(self.answers, "sshd answers")
        self.known = folder / "known_hosts"
        public = (folder / "host.pub").read_text()
        self.known.write_text(f"[127.0.0.1]:{self.port} {public}")

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def connector(self, key="key", host="127.0.0.1", known=None, port=None, options="", **parameters):
        user = getpass.getuser()
        prefix = (
            f"ssh -F none -o BatchMode=yes -o UserKnownHostsFile={known or self.known} -o StrictHostKeyChecking=yes "
            f"-o IdentitiesOnly=yes -i {self.folder / key} -p {port or self.port} -l {user} {options} {host}"
        )
        return base.build("slurm", {"prefix": prefix, **parameters})

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


@pytest.fixture(scope="module")
def remote(tmp_path_factory):
    remote = Remote(tmp_path_factory.mktemp("ssh"))
    yield remote
    remote.close()


def said(connector):
    """What the first finding that is not well says, and its remedy."""
    finding = next(finding for finding in connector.check().findings if not finding.well)
    return finding.message, finding.remedy


def test_commands_run_on_the_other_host(remote):
    found = remote.connector().check()
    assert (found.version, found.findings[0].well) == ("22.05.8", True)


LOGIN = "ssh cannot log in without a password: try `ssh -o BatchMode=yes HOST true` as this user"


def test_a_wrong_key(remote):
    text, helps = said(remote.connector(key="other"))
    assert (text, helps) == (
        f"squeue failed with exit code 255: {getpass.getuser()}@127.0.0.1: Permission denied (publickey).",
        LOGIN,
    )


def test_a_key_that_is_not_there(remote):
    text, helps = said(remote.connector(key="none"))
    assert ("Permission denied (publickey)" in text, helps) == (True, LOGIN)


def test_an_unknown_host_key(remote, tmp_path):
    text, helps = said(remote.connector(known=tmp_path / "empty"))
    assert text == "squeue failed with exit code 255: Host key verification failed."
    assert helps == (
        "the key of the host is unknown or has changed: compare it with `ssh-keyscan HOST`, and add it to "
        "~/.ssh/known_hosts of this user"
    )


def test_a_host_that_does_not_exist(remote):
    text, helps = said(remote.connector(host="login1.invalid"))
    assert text.startswith("squeue failed with exit code 255: ssh: Could not resolve hostname login1.invalid")
    assert helps == "there is no host of this name: correct the parameter prefix"


def test_a_port_on_which_nobody_listens(remote):
    port = free_port()
    text, helps = said(remote.connector(port=port))
    assert text == (f"squeue failed with exit code 255: ssh: connect to host 127.0.0.1 port {port}: Connection refused")
    assert helps == "no ssh server answers there: correct host and port in the parameter prefix, or start sshd"


def test_a_command_that_hangs(remote):
    connector = remote.connector(conf="/hangs", timeout_ms=1500)
    with pytest.raises(ConnectorError, match=r"^squeue did not answer within 1\.5 s and was stopped; slurmctld may be"):
        connector._commands.run("squeue", "-h")


def test_a_command_that_prints_without_end(remote):
    connector = remote.connector(conf="/floods", max_output_mb=2)
    with pytest.raises(ConnectorError, match=r"^squeue printed more than 2 MB and was stopped; raise "):
        connector._commands.run("squeue", "-h")


def test_a_greeting_instead_of_an_answer(remote):
    connector = remote.connector(conf="/motd")
    connector._diagnostics = lambda: None
    with pytest.raises(
        ConnectorError, match=r"^squeue: the answer ends in the middle of a row, or is not a table: 'We"
    ):
        connector.snapshot(nodes=True)
