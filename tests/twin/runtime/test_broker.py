"""Where the embedded broker lives."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from twin.infra import broker


def test_the_socket_is_private_short_and_the_same_for_the_same_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = broker.socket_path(Path("/data/one"))
    assert path == broker.socket_path(Path("/data/one")) != broker.socket_path(Path("/data/two"))
    assert path.parent.parent == tmp_path
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert len(os.fsencode(path)) <= 107


def test_a_runtime_folder_with_a_long_path_is_passed_over(tmp_path, monkeypatch):
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    assert long not in broker.socket_path(Path("/data/one")).parents


def test_a_server_that_does_not_answer_is_named():
    with pytest.raises(broker.NoBroker, match=r"the server at unix:///nowhere/b.sock does not answer after 0 s"):
        broker.wait("unix:///nowhere/b.sock", seconds=0)


def test_it_starts_empty_whatever_lies_in_its_folder(tmp_path):
    """An append-only file and a snapshot of random bytes, as a crash of an older version of the twin may leave them."""
    (tmp_path / "appendonlydir").mkdir()
    for name in ("appendonly.aof.manifest", "appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof"):
        (tmp_path / "appendonlydir" / name).write_bytes(os.urandom(500))
    (tmp_path / "dump.rdb").write_bytes(os.urandom(500))
    with tempfile.TemporaryDirectory(prefix="twin-test-") as folder:
        path = Path(folder) / "broker.sock"
        server = subprocess.Popen(broker.command(broker.find_server(), path, tmp_path), stdout=subprocess.DEVNULL)
        try:
            broker.wait(f"unix://{path}", alive=lambda: server.poll() is None)
            assert list(tmp_path.iterdir()) == []
        finally:
            server.kill()
            server.wait()


def test_a_server_that_ends_at_once_is_reported_with_its_last_words(tmp_path):
    log = tmp_path / "broker.log"
    log.write_text("# starting\n# Fatal error, can't open the folder\n\n")
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    with pytest.raises(broker.NoBroker, match="the broker failed to start: # Fatal error, can't open the folder"):
        broker.wait("unix:///nowhere/b.sock", alive=lambda: ended.poll() is None, log=log)


def test_the_folder_of_the_socket_goes_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = broker.socket_path(Path("/data/one"))
    path.touch()
    broker.drop_socket(path)
    assert list(tmp_path.iterdir()) == []
    broker.drop_socket(path)  # twice does no harm
