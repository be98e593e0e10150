"""manage.py ticker: paces live runs and takes back expired leases."""

import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from twin.processes import heartbeat
from twin.processes.stop_signal import stop_on
from twin.ticker import LOCK_WAIT_S, Ticker


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = "Schedules live runs and recovers runs without a worker. Run one per installation."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--demo", action="store_true", help="restart the demo run when it ends")

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.BROKER_URL:
            raise CommandError(
                "BROKER_URL is not set, so runs cannot be enqueued (`manage.py up` starts a broker and sets it)"
            )
        settings.DATABASE_LOCK_WAIT_S = LOCK_WAIT_S
        stop = stop_on(signal.SIGTERM, signal.SIGINT)
        ticker = Ticker(demo=options["demo"])
        beating = heartbeat.Pulse(heartbeat.TICKER, ticker.fault).start()
        ticker.run(stop)
        beating.stop()
