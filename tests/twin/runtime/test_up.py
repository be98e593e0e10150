"""What `manage.py up` says, in one line, when it cannot start."""

import http.server
import os
import socket
import subprocess
import sys
import threading

import pytest
from django.core.management import CommandError, call_command

from twin.management.commands import up
from twin.processes.supervisor import Child, Children

from .stack import ROOT, free_port


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--port=99999", "--port must be a number from 1 to 65535, got '99999'"),
        ("--port=-1", "--port must be a number from 1 to 65535, got '-1'"),
        ("--port=0", "--port must be a number from 1 to 65535, got '0'"),
        ("--port=80x", "--port must be a number from 1 to 65535, got '80x'"),
        ("--workers=0", "--workers must be a number from 1 to 256, got '0'"),
        ("--workers=-3", "--workers must be a number from 1 to 256, got '-3'"),
        ("--host=nosuch.invalid", "--host nosuch.invalid is not a valid address or a known host name"),
        ("--host=", "--host '' is not a valid address or a known host name"),
        ("--host=192.0.2.1", "--host 192.0.2.1 is not an address of this machine"),
    ],
)
def test_an_option_that_cannot_be(settings, tmp_path, option, sentence):
    settings.VAR_DIR = tmp_path
    with pytest.raises(CommandError) as refused:
        call_command("up", option)
    assert str(refused.value) == sentence


def test_the_last_port_has_none_behind_it():
    taken = up._taken([(socket.AF_INET, ("127.0.0.1", 0))], 65_535)
    if taken is None:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 65_535))
            server.listen()
            with pytest.raises(CommandError, match=r"127.0.0.1:65535 and the following ports cannot be used"):
                up._check_port("127.0.0.1", 65_535)


def started(folder, **env) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), "up", "--port", str(free_port())]
    return subprocess.run(
        command, env=os.environ | {"TWIN_VAR_DIR": str(folder)} | env, capture_output=True, text=True, timeout=60
    )


def test_a_data_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        ended = started(folder)
        assert ended.returncode != 0
        assert (
            ended.stderr
            == f"the data folder {folder} cannot be used: it is not a folder; set TWIN_VAR_DIR to another folder\n"
        )


def test_a_data_folder_that_takes_no_file():
    ended = started("/proc")
    assert ended.returncode != 0
    assert ended.stderr.startswith("the data folder /proc cannot be used: ")
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", ["up.lock", "logs", "broker"])
def test_something_else_stands_where_a_file_or_folder_belongs(tmp_path, name):
    (tmp_path / name).mkdir() if name == "up.lock" else (tmp_path / name).touch()
    ended = started(tmp_path, BROKER_URL="", LAYER_URL="")
    assert ended.returncode != 0
    assert ended.stderr.startswith(f"CommandError: {tmp_path / name}: ")
    assert len(ended.stderr.splitlines()) == 1


def test_a_full_disk_is_said_at_the_start(settings, tmp_path, monkeypatch):
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr("twin.infra.disk.MIN_FREE", 2**60)
    with pytest.raises(CommandError, match=rf"the disk of {tmp_path} is full; free disk space first"):
        call_command("up")


@pytest.fixture
def somebody_else():
    """A web server that answers /healthz well and is not ours."""

    class Well(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            known = self.headers["Host"] == "twin.example"
            self.send_response(200 if known else 400)
            if known:
                self.send_header("X-Twin-Instance", "theirs")
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Well)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_an_answer_of_another_twin_is_not_taken_for_ours(settings, somebody_else):
    """Two that were started together: both found the port free, and the other one has it now."""
    settings.INSTANCE, settings.ALLOWED_HOSTS = "ours", [".twin.example"]
    port = somebody_else
    with pytest.raises(
        CommandError, match=rf"127.0.0.1:{port} cannot be used \(Address already in use\); port \d+ is free"
    ):
        up._wait_for_web(
            f"http://127.0.0.1:{port}", Children(), threading.Event(), lambda: up._check_port("127.0.0.1", port), 20
        )


def test_a_web_server_that_died_of_its_port_ends_the_start(tmp_path):
    """The other one listens and does not answer yet."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        children = Children(report=lambda line: None)
        web = children.add(Child("web", [sys.executable, "-c", "raise SystemExit(1)"], os.environ, tmp_path / "log"))
        web.process.wait()
        with pytest.raises(CommandError, match=rf"127.0.0.1:{port} cannot be used"):
            up._wait_for_web(
                f"http://127.0.0.1:{port}", children, threading.Event(), lambda: up._check_port("127.0.0.1", port), 20
            )


def test_our_own_answer_is_known_under_any_allowed_name(settings, somebody_else):
    """A web server refuses hosts that are not allowed, 127.0.0.1 among them where ALLOWED_HOSTS names another."""
    url = f"http://127.0.0.1:{somebody_else}"
    settings.INSTANCE, settings.ALLOWED_HOSTS = "theirs", ["twin.example"]
    up._wait_for_web(url, Children(), threading.Event(), lambda: pytest.fail("it is ours"), 20)
    settings.ALLOWED_HOSTS = ["*"]
    with pytest.raises(CommandError, match="the web server does not answer at"):
        up._wait_for_web(
            url, Children(), threading.Event(), lambda: pytest.fail("an error says nothing of whose it is"), 0.3
        )
