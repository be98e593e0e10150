"""Calls of commands: real ones that are missing, fail, hang or print without end."""

import os
import time
from pathlib import Path

import pytest

from twin.connectors._slurm.commands import CallError, Commands, remedy
from twin.connectors.facts import ConnectorError


@pytest.fixture
def script(tmp_path):
    """Writes a command of the given name and returns the prefix that finds it first."""

    def write(name, body):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return f"env PATH={tmp_path}:{os.environ['PATH']}"

    return write


def until(condition, otherwise):
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail(otherwise)


def alive(pid):
    """Whether a process runs; one that has ended and was not yet waited for by init does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_a_command_gets_its_arguments_and_its_variables(script, tmp_path):
    prefix = script("squeue", 'echo "$@ $LC_ALL $SLURM_TIME_FORMAT $SLURM_BITSTR_LEN $SLURM_CONF"')
    commands = Commands(prefix, conf="/etc/slurm/slurm.conf")
    assert commands.run("squeue", "-h", "-t", "all") == "-h -t all C %s 0 /etc/slurm/slurm.conf\n"
    assert set(commands.spent_ms) == {"squeue"}


@pytest.mark.parametrize("word", ["a b", "$(id)", "x;y", "a\nb", "'", "*", ""])
def test_no_argument_has_a_meaning_to_a_remote_shell(word):
    with pytest.raises(ConnectorError, match="has characters that a remote shell would read"):
        Commands().run("squeue", word)


def test_a_missing_command_names_its_package(tmp_path):
    with pytest.raises(CallError) as error:
        Commands(f"/usr/bin/env PATH={tmp_path}:/usr/bin").run("squeue-that-is-missing")
    assert str(error.value) == (
        "squeue-that-is-missing was not found; apt-get install slurm-client (Debian, Ubuntu), or set the parameter "
        "prefix to a command that reaches a host with it"
    )


def test_a_missing_prefix_is_named():
    with pytest.raises(
        CallError,
        match="squeue cannot be started: there is no command 'no-such-ssh' on this host; correct the parameter prefix",
    ):
        Commands("no-such-ssh host").run("squeue")


def test_a_configuration_file_that_does_not_exist_is_named(script, tmp_path):
    missing = str(tmp_path / "slurm.conf")
    with pytest.raises(CallError, match=f"there is no file {missing} on this host; correct the parameter conf"):
        Commands(conf=missing).run("squeue")
    assert Commands(script("squeue", "echo $SLURM_CONF"), conf=missing).run("squeue").strip() == missing


def test_a_command_that_hangs_is_stopped_with_its_children(script, tmp_path):
    prefix = script("squeue", f"sleep 1000 & echo $! > {tmp_path}/child; echo $$ > {tmp_path}/parent; wait")
    with pytest.raises(CallError) as error:
        Commands(prefix, timeout_ms=2000).run("squeue")
    assert str(error.value).startswith(
        "squeue did not answer within 2 s and was stopped; slurmctld may be down or overloaded"
    )
    pids = [int((tmp_path / name).read_text()) for name in ("child", "parent")]
    until(lambda: not any(alive(pid) for pid in pids), "a stopped command's processes are still there")


def test_a_command_that_closes_its_output_and_hangs_is_stopped(script):
    with pytest.raises(CallError, match=r"did not answer within 0\.3 s"):
        Commands(script("squeue", "exec >&- 2>&-; sleep 1000"), timeout_ms=300).run("squeue")


def test_a_command_that_prints_without_end_is_stopped(script):
    with pytest.raises(CallError) as error:
        Commands(script("squeue", "exec yes"), max_bytes=3_000_000, timeout_ms=60_000).run("squeue")
    assert str(error.value) == (
        "squeue printed more than 3 MB and was stopped; raise the output limit (max_output_mb) if the answer is right"
    )


def test_errors_without_end_are_cut(script):
    prefix = script("squeue", "head -c 2000000 /dev/zero >&2; exit 3")
    with pytest.raises(CallError, match="squeue failed with exit code 3"):
        Commands(prefix, timeout_ms=60_000).run("squeue")


def test_a_failing_command_says_its_last_words_in_one_line(script):
    prefix = script("squeue", "printf 'first\\nlast \\033[1m words\\n\\n' >&2; exit 1")
    with pytest.raises(CallError) as error:
        Commands(prefix).run("squeue")
    assert str(error.value) == "squeue failed with exit code 1: last  [1m words"


def test_bytes_that_are_no_text_are_replaced(script):
    assert Commands(script("squeue", "printf 'a\\377b'")).run("squeue") == "a\ufffdb"


@pytest.mark.parametrize(
    ("message", "helps"),
    [
        ("slurm_load_jobs error: Unable to contact slurm controller (connect failure)", "slurmctld does not answer"),
        ('squeue: error: Munge encode failed: Failed to access "/run/munge/munge.socket.2"', "systemctl restart munge"),
        (
            "slurm_load_jobs error: Protocol authentication error",
            "munge keys of this host and of the controller differ",
        ),
        ("slurm_load_jobs error: Incompatible versions of client and server code", "another Slurm version"),
        ("squeue: fatal: Could not establish a configuration source", "set the parameter conf"),
        ("ann@login1: Permission denied (publickey).", "ssh -o BatchMode=yes"),
        ("Host key verification failed.", "ssh-keyscan HOST"),
        ("ssh: Could not resolve hostname login9: Name or service not known", "no host of this name"),
        ("ssh: connect to host login1 port 22: Connection refused", "no ssh server answers there"),
        ("ssh: connect to host login1 port 22: No route to host", "no ssh server answers there"),
        ("Slurm accounting storage is disabled", "AccountingStorageType="),
        ("something new", ""),
    ],
)
def test_known_errors_come_with_what_helps(message, helps):
    assert helps in remedy(message)
    assert bool(remedy(message)) == bool(helps)
