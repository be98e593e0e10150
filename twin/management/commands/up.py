"""manage.py up: the whole twin on one machine, until Ctrl-C."""

from __future__ import annotations

import errno
import fcntl
import http.client
import os
import re
import secrets
import signal
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from twin.infra import broker, disk
from twin.processes import heartbeat
from twin.processes.hang_detection import BrokerProbe, Hangs, started
from twin.processes.stop_signal import stop_on
from twin.processes.supervisor import Child, Children

MAX_PORT = 65_535
MAX_WORKERS = 256
# Settings of glibc's allocator for the web server: memory that its threads free goes back to the system.
ALLOCATOR_SETTINGS = {"MALLOC_ARENA_MAX": "2", "MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "262144"}
# A person waits for the answer of a web server; a worker may wait for longer.
WEB_SETTINGS = {"DATABASE_LOCK_WAIT_S": "5"}
NICENESS = {"worker": 5, "long": 10, "background": 10}  # pages come first, then quick runs
BACKGROUND_WORKERS = 2  # for certificates, of which one is computed at a time, and for alerts, forecasts and plans
MAX_START_S = 120.0  # of the web server, on a machine that does other work, too


class Command(BaseCommand):
    help = "Starts the broker, the web server, the workers, the ticker and the follower, and prints a login link."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="run a live demo permanently")
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on; default: 127.0.0.1")
        parser.add_argument("--port", default="8000", help="port to listen on; default: 8000")
        parser.add_argument(
            "--workers",
            default="2",
            help="number of worker processes for runs, and as many for runs with long decisions; default: 2",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        options |= {
            name: _number(name, options[name], most) for name, most in (("port", MAX_PORT), ("workers", MAX_WORKERS))
        }
        try:
            self._up(options)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error

    def _up(self, options: dict[str, Any]) -> None:
        began = time.monotonic()
        if full := disk.full():
            raise CommandError(f"{full}; free disk space first")
        lock = _lock(settings.VAR_DIR / "up.lock")
        _check_port(options["host"], options["port"])
        stop = stop_on(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        children = Children(report=self._warn)
        self.hangs = Hangs(heartbeat.folder(), self._warn)
        self.probe: BrokerProbe | None = None
        try:
            settings.INSTANCE = secrets.token_hex(8)
            env = self._prepare(children)
            self._start_web(children, env, options)
            url = _url(options["host"], options["port"])
            _wait_for_web(url, children, stop, lambda: _check_port(options["host"], options["port"]))
            if not stop.is_set():
                self._start_others(children, env, options)
                self._report(url, time.monotonic() - began)
            self._watch(children, stop)
        finally:
            children.stop()
            if not settings.BROKER_URL:
                broker.drop_socket(broker.socket_path(settings.VAR_DIR))
            lock.close()

    def _watch(self, children: Children, stop: threading.Event) -> None:
        """Loop until the stop signal."""
        full = None
        checked_at = time.monotonic()
        while not stop.wait(0.25):
            children.watch()
            if time.monotonic() - checked_at > heartbeat.BEAT_S:
                checked_at = time.monotonic()
                self._replace_what_hangs(children)
            before, full = full, disk.full()
            if full and not before:
                self._warn(f"{full}; runs wait until space is free")
            elif before and not full:
                self._warn(f"the disk of {settings.VAR_DIR} has free space again; runs resume")

    def _replace_what_hangs(self, children: Children) -> None:
        """End of processes that hang; the supervisor, or the worker of a pool child, restarts them."""
        self.hangs.check(started(child for child in children.members if child.name != "broker"))
        if self.probe is not None and self.probe.hangs():
            self._warn(f"the broker has not answered for {settings.HUNG_S:g} s; it is replaced")
            next(child for child in children.members if child.name == "broker").signal_group(signal.SIGKILL)

    def _warn(self, line: str) -> None:
        try:
            self.stderr.write(line)
        except OSError:  # standard error is a file on the disk that is full
            pass

    def _report(self, url: str, seconds: float) -> None:
        path = StringIO()
        call_command("login_link", role="admin", stdout=path)  # by name: twin imports nothing of the dashboard
        link = url + path.getvalue().strip()
        self.stdout.write(f"\nStarted in {seconds:.1f} s. Open this link to log in as admin (it works once):\n")
        self.stdout.write(f"\n    {link}\n\nPress Ctrl-C to stop. Logs and data: {settings.VAR_DIR}\n")
        self.stdout.flush()

    def _prepare(self, children: Children) -> dict[str, str]:
        """Environment of the processes, after the broker has started and database and static files are up to date."""
        env = dict(os.environ) | {"TWIN_INSTANCE": settings.INSTANCE, "TWIN_SUPERVISED": "1"}
        logs = settings.VAR_DIR / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        settings.UPLOAD_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self._broker(children, env, logs)
            self._check_celery_broker()
        except broker.NoBroker as error:
            raise CommandError(str(error)) from error
        try:
            call_command("migrate", verbosity=0, interactive=False)
        except DatabaseError as error:
            name = settings.DATABASES["default"]["NAME"]
            raise CommandError(f"the database {name} cannot be used: {' '.join(str(error).split())}") from error
        _collect_static()
        return env

    def _start_web(self, children: Children, env: dict[str, str], options: dict[str, Any]) -> None:
        web = [sys.executable, "-m", "uvicorn", "twin.config.asgi:application", "--host", options["host"], "--port",
               str(options["port"]), "--log-level", "warning", "--no-access-log", "--no-proxy-headers",
               "--timeout-graceful-shutdown", "3", "--ws-max-size", "1048576",
               "--ws-per-message-deflate", "false"]  # fmt: skip
        children.add(Child("web", web, ALLOCATOR_SETTINGS | WEB_SETTINGS | env, settings.VAR_DIR / "logs" / "web.log"))

    def _start_others(self, children: Children, env: dict[str, str], options: dict[str, Any]) -> None:
        """Start of the processes that no page waits for: on few cores they would delay the web server."""
        manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
        background = BACKGROUND_WORKERS + settings.IMPORT_PROCESSES + settings.EXPERIMENT_PROCESSES
        for name, command in (
            ("worker", _worker("runs", options["workers"])),
            ("long", _worker("long", options["workers"])),
            ("background", _worker("io,certificates", background)),
            ("ticker", [*manage, "ticker", *(["--demo"] if options["demo"] else [])]),
            ("follower", [*manage, "follower"]),
        ):
            log = settings.VAR_DIR / "logs" / f"{name}.log"
            children.add(Child(name, command, env, log, niceness=NICENESS.get(name, 0)))

    def _broker(self, children: Children, env: dict[str, str], logs: Path) -> None:
        """Start of the embedded server unless URLs are given; children and this process learn its address."""
        if not settings.BROKER_URL:
            path = broker.socket_path(settings.VAR_DIR)
            path.unlink(missing_ok=True)
            command = broker.command(broker.find_server(), path, settings.VAR_DIR / "broker")
            child = children.add(Child("broker", command, env, logs / "broker.log"))
            broker.wait(f"unix://{path}", alive=lambda: child.alive, log=child.log)
            env["BROKER_URL"], env["LAYER_URL"] = f"redis+socket://{path}", f"unix://{path}"
            self.probe = BrokerProbe(f"unix://{path}")
        elif settings.LAYER_URL:
            broker.wait(settings.LAYER_URL)
        else:
            raise broker.NoBroker(
                f"BROKER_URL is {settings.BROKER_URL}, which cannot transport live "
                "frames; also set LAYER_URL to a Redis"
            )
        os.environ.update({name: env[name] for name in ("BROKER_URL", "LAYER_URL") if name in env})
        settings.LAYER_URL = env.get("LAYER_URL", settings.LAYER_URL)

    def _check_celery_broker(self) -> None:
        """Wait for a broker that is not embedded, such as RabbitMQ, before anything is started on it."""
        if not settings.BROKER_URL:
            return
        from kombu import Connection

        try:
            with Connection(settings.BROKER_URL, connect_timeout=5) as connection:
                connection.ensure_connection(max_retries=1, timeout=5)
        except Exception as error:  # each transport has its own
            raise broker.NoBroker(
                f"the broker at {_without_password(settings.BROKER_URL)} does not answer: {error}"
            ) from error


def _worker(queues: str, processes: int) -> list[str]:
    """The command of a Celery worker. Runs have two (twin/runs/pools.py): nothing else takes their processes."""
    return [sys.executable, "-m", "celery", "-A", "twin", "worker", "-Q", queues, "-c", str(processes), "-l", "warning",
            "--without-gossip", "--without-mingle", "--without-heartbeat", "-n",
            f"{queues.partition(',')[0]}-{os.getpid()}@%h"]  # fmt: skip


def _without_password(url: str) -> str:
    return re.sub(r"//[^@/]*@", "//", url)


def _number(name: str, text: str | int, most: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= most:
        raise CommandError(f"--{name} must be a number from 1 to {most}, got {text!r}")
    return value


def _lock(path: Path) -> Any:
    """Lock of the data folder for one `up`; it ends with the process, however that ends."""
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        raise CommandError(
            f"the twin is already running on {settings.VAR_DIR} (process {file.read().strip() or 'unknown'})"
        ) from None
    file.seek(0)
    file.truncate()
    file.write(str(os.getpid()))
    file.flush()
    return file


def _check_port(host: str, port: int) -> None:
    """Check that the web server can listen on the port; otherwise the reason, and a free port near it."""
    addresses = _addresses(host)
    error = _taken(addresses, port)
    if error is None:
        return
    if error.errno == errno.EADDRNOTAVAIL:
        raise CommandError(f"--host {host} is not an address of this machine")
    tried = range(port + 1, min(port + 50, MAX_PORT + 1))
    free = next((candidate for candidate in tried if _taken(addresses, candidate) is None), None)
    if free is None:
        raise CommandError(
            f"{host}:{port} and the following ports cannot be used ({error.strerror}); choose one with --port"
        )
    raise CommandError(f"{host}:{port} cannot be used ({error.strerror}); port {free} is free: --port {free}")


def _addresses(host: str) -> list[Any]:
    """(family, address) of each address of the name."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM) if host else []
    except (socket.gaierror, UnicodeError):
        found = []
    if not found:
        raise CommandError(f"--host {host or repr(host)} is not a valid address or a known host name")
    return [(family, address) for family, _, _, _, address in found]


def _taken(addresses: list[Any], port: int) -> OSError | None:
    """Reason why the port cannot be had on one of them; None when it can on all."""
    for family, address in addresses:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind((address[0], port, *address[2:]))
            except OSError as error:
                return error
    return None


def _url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}"


def _wait_for_web(
    url: str, children: Children, stop: threading.Event, check_port: Callable[[], None], seconds: float = MAX_START_S
) -> None:
    """Wait for an answer of this web server: another program can have taken the port since it was checked."""
    deadline = time.monotonic() + seconds
    while not stop.is_set():
        instance, status = _health(url)
        if instance == settings.INSTANCE and status in (200, 503):  # 503: its workers are still starting
            return
        # our own errors do not say whose they are
        somebody_else = instance != settings.INSTANCE if instance else status == 200
        if somebody_else or any(child.name == "web" and not child.alive for child in children.members):
            check_port()
        children.watch()
        if time.monotonic() > deadline:
            raise CommandError(
                f"the web server does not answer at {url} after {seconds:g} s; its log: "
                f"{settings.VAR_DIR / 'logs' / 'web.log'}"
            )
        stop.wait(0.05)


def _health(url: str) -> tuple[str | None, int | None]:
    """Web server that answers at the port, and its status; None without one."""
    asking = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    allowed = [host.lstrip(".") for host in settings.ALLOWED_HOSTS if host != "*"]
    request = urllib.request.Request(f"{url}/healthz", headers={"Host": allowed[0]} if allowed else {})
    try:
        with asking.open(request, timeout=2) as answer:
            return answer.headers.get("X-Twin-Instance"), answer.status
    except urllib.error.HTTPError as error:
        return error.headers.get("X-Twin-Instance"), error.code
    except (OSError, http.client.HTTPException):
        return None, None


def _collect_static() -> None:
    """Copies of the static files, compressed, if any of them changed since the last start."""
    stamp = settings.STATIC_ROOT.parent / "static.stamp"
    newest = max(
        (p.stat().st_mtime_ns for root in settings.STATICFILES_DIRS for p in Path(root).rglob("*") if p.is_file()),
        default=0,
    )
    wanted = f"{newest} {sum(1 for root in settings.STATICFILES_DIRS for _ in Path(root).rglob('*'))}"
    if settings.STATIC_ROOT.exists() and stamp.exists() and stamp.read_text() == wanted:
        return
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    stamp.write_text(wanted)
