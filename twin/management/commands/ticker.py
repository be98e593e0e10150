"""manage.py ticker: paces live runs and takes back expired leases."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from twin.ticker import Ticker


class Command(BaseCommand):
    help = "Paces live runs and takes up runs whose worker is gone. One per installation is enough."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="start the demo run again when it has ended")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.BROKER_URL:
            raise CommandError(
                "BROKER_URL is not set: there is nobody to hand runs to (`manage.py up` starts a broker and sets it)"
            )
        stop = threading.Event()
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: stop.set())
        Ticker(demo=options["demo"]).run(stop)
