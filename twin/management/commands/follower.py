"""manage.py follower: follows the clusters that are connected (`manage.py connect`)."""

import signal
from typing import Any

from django.core.management.base import BaseCommand

from twin.mirror.follower import Follower
from twin.processes import heartbeat
from twin.processes.stop_signal import stop_on


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # they would import every page of the dashboard
    help = (
        "Follows the connected clusters. `manage.py up` starts a follower; a second one, for example on another host "
        "with the same DATABASE_URL, only follows clusters that the first one no longer follows."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        stop = stop_on(signal.SIGTERM, signal.SIGINT)
        follower = Follower(stop)
        beating = heartbeat.Pulse(heartbeat.FOLLOWER, follower.fault).start()
        follower.run()
        beating.stop()
