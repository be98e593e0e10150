"""manage.py act NAME: carries out approved plans on the cluster of a connection."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.acting.actor import Actor
from twin.actuators.base import MENU, build, names
from twin.connectors.facts import ConnectorError
from twin.models import Connection
from twin.processes import heartbeat
from twin.processes.hang_detection import Hangs, started
from twin.processes.stop_signal import stop_on
from twin.processes.supervisor import Child, Children


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = (
        "Carries out approved plans on the cluster of a connection, with an account that may change jobs. Without "
        "an approved plan it changes nothing. Example: manage.py act lab --set prefix='sudo -n -u slurm-operator'"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="name of the connection")
        parser.add_argument(
            "--set", action="append", default=[], metavar="NAME=VALUE",
            help="parameter of the access that may change jobs: prefix, conf, timeout_ms",
        )  # fmt: skip
        parser.add_argument(
            "--unsupervised", action="store_true",
            help="run one process, which a supervisor such as systemd restarts",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        connection = Connection.objects.filter(name=options["name"]).first()
        if connection is None:
            known = ", ".join(Connection.objects.values_list("name", flat=True)) or "none"
            raise CommandError(f"there is no connection {options['name']!r}; known: {known}")
        if connection.connector not in names():
            raise CommandError(
                f"plans are not available for the connector {connection.connector}; "
                f"available for: {', '.join(names())}{MENU.notice()}"
            )
        try:
            actuator = build(connection.connector, _pairs(options["set"]))
        except (ModelError, UnknownName, ConnectorError) as error:
            raise CommandError(str(error)) from error
        stop = stop_on(signal.SIGTERM, signal.SIGINT)
        if options["unsupervised"]:
            actor = Actor(connection, actuator, stop)
            beating = heartbeat.Pulse(heartbeat.ACTOR, actor.fault, _supervisor(connection.name)).start()
            actor.run()
            beating.stop()
        else:
            self._supervise(connection.name, options["set"], stop)

    def _supervise(self, name: str, given: list[str], stop: threading.Event) -> None:
        """One child that acts; a new one is started when it ends or hangs, and undoes what that one left unfinished."""
        logs = settings.VAR_DIR / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        manage = str(settings.BASE_DIR / "manage.py")
        settings_given = [word for one in given for word in ("--set", one)]
        command = [sys.executable, manage, "act", name, "--unsupervised", *settings_given]
        env = dict(os.environ) | {"TWIN_SUPERVISED": "1"}
        children = Children(self.stderr.write)
        hangs = Hangs(heartbeat.folder(_supervisor(name)), self.stderr.write)
        child = children.add(Child(f"act-{name}", command, env, logs / f"act-{name}.log"))
        self.stdout.write(f"Plans for {name} are carried out when they are approved. Log: {child.log}. Ctrl-C stops.")
        self.stdout.flush()
        try:
            while not stop.wait(0.25):
                children.watch()
                hangs.check(started(children.members))
        finally:
            children.stop()


def _supervisor(name: str) -> str:
    """Name of the supervisor of the acting process of this connection, for its heartbeat."""
    return f"act-{name}"


def _pairs(words: list[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise CommandError(f"--set must be NAME=VALUE, got {word!r}")
        found[name] = value
    return found
