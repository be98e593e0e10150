"""Children that are restarted when they die and cannot outlive whoever started them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from twin.processes.supervisor import Child, Children

from .stack import ROOT, is_alive, wait_until

SLEEPER = [sys.executable, "-c", "import signal; signal.pause()"]


def test_a_dead_child_is_started_again_and_said(tmp_path):
    reports = []
    children = Children(report=reports.append)
    child = children.add(Child("sleeper", SLEEPER, os.environ, tmp_path / "log", pause=0.0))
    first = child.process.pid
    child.process.kill()
    child.process.wait()
    wait_until(lambda: children.watch() or (child.alive and child.process.pid != first), "it is back", 20)
    assert reports == [f"sleeper exited (code -9); restarting. Log: {tmp_path / 'log'}"]
    children.stop()


def test_a_child_has_its_niceness_against_other_sessions_each_time_it_starts(tmp_path):
    children = Children(report=lambda line: None)
    child = children.add(Child("sleeper", SLEEPER, os.environ, tmp_path / "log", niceness=7, pause=0.0))
    first = child.process.pid
    if not Path(f"/proc/{first}/autogroup").exists():
        children.stop()
        pytest.skip("this kernel has no autogroups")
    assert Path(f"/proc/{first}/autogroup").read_text().endswith(" nice 7\n")
    child.process.kill()
    child.process.wait()
    wait_until(lambda: children.watch() or (child.alive and child.process.pid != first), "it is back", 20)
    assert Path(f"/proc/{child.process.pid}/autogroup").read_text().endswith(" nice 7\n")
    children.stop()


def test_a_child_that_keeps_dying_waits_longer_each_time(tmp_path):
    children = Children(report=lambda line: None)
    child = children.add(
        Child("failing", [sys.executable, "-c", "raise SystemExit(3)"], os.environ, tmp_path / "log", pause=0.01)
    )
    wait_until(lambda: children.watch() or child.pause >= 0.08, "three restarts", 30)
    children.stop()


def test_stopping_ends_what_the_children_started(tmp_path):
    code = f"import subprocess, sys; subprocess.run({SLEEPER!r})"
    children = Children(report=lambda line: None)
    child = children.add(Child("parent", [sys.executable, "-c", code], os.environ, tmp_path / "log"))
    process = psutil.Process(child.process.pid)
    wait_until(lambda: process.children(), "it has a child", 20)
    grandchild = process.children()[0]
    children.stop()
    wait_until(lambda: not is_alive(grandchild), "nothing is left", 20)


def test_children_go_when_their_starter_is_killed(tmp_path):
    code = (
        "import os, pathlib, signal\n"
        "from twin.processes.supervisor import Child, Children\n"
        f"child = Children().add(Child('sleeper', {SLEEPER!r}, os.environ, pathlib.Path({str(tmp_path / 'log')!r})))\n"
        "print(child.process.pid, flush=True)\n"
        "signal.pause()\n"
    )
    starter = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    child = psutil.Process(int(starter.stdout.readline()))
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    wait_until(lambda: not is_alive(child), "the child is gone", 20)
