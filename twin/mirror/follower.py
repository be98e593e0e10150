"""The follower: one process that follows every connection, a thread each.

It continues where it stopped after a restart.

The lease of a connection's run makes sure that one follower at a time writes its log (twin/runs/lease.py).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.db import DatabaseError, close_old_connections, connection

from scheduling.kernel.parameters import UnknownName
from scheduling.model.values import ModelError
from twin.connectors.base import Connector, build
from twin.connectors.facts import ConnectorError
from twin.eventlog.event_log import LeaseLost
from twin.infra import memory
from twin.mirror import stored
from twin.mirror.borders import Border, cross
from twin.mirror.differ import Mirror
from twin.mirror.following import Following
from twin.mirror.sampling import begin
from twin.models import Connection, Forecasting, Run
from twin.processes.progress import Progress
from twin.runs import lease

log = logging.getLogger(__name__)
REFRESH_S = 1.0  # between two reads of the list of connections
HEALTH_S = 2.0  # between two writes of a connection's health
AGAIN_S = 5.0  # after a failure that is not the cluster's
LEASE_AGAIN_S = 1.0
STUCK_S = 120.0  # a loop that makes no progress for this long hangs; the first poll of a large cluster takes some 10 s


class Follower:
    """Threads by connection. `stop` ends all of them."""

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.threads: dict[int, Follow] = {}
        self.progress = Progress("read the list of connections", STUCK_S)

    def run(self) -> None:
        """Start and end of threads as connections come, are paused, and go."""
        while not self.stop.wait(REFRESH_S):
            self.progress.note()
            try:
                self.refresh()
            except (DatabaseError, OSError) as error:
                log.warning("the follower waits: %s", error)
                close_old_connections()
        for thread in self.threads.values():
            thread.join()

    def fault(self) -> str:
        """Fault of loops that hang, its own or that of a thread; empty while all run."""
        threads = [thread.progress for thread in list(self.threads.values()) if thread.is_alive()]
        return " and ".join(filter(None, (one.fault() for one in (self.progress, *threads))))

    def refresh(self) -> None:
        """Start of what is missing, and end of what is paused, gone or has other settings now."""
        following = Connection.objects.filter(wanted=Connection.FOLLOWING).values_list(
            "pk", "name", "parameters", "interval_ms", "sites", "sampler", "sampler_parameters"
        )
        wanted = {pk: tuple(settings) for pk, *settings in following}
        for pk, thread in list(self.threads.items()):
            if wanted.get(pk) != thread.settings:
                thread.over.set()
            if not thread.is_alive():
                del self.threads[pk]
        for pk in wanted.keys() - self.threads.keys():
            self.threads[pk] = Follow(pk, wanted[pk], self.stop)
            self.threads[pk].start()


class Follow(threading.Thread):
    """Thread that follows one connection until `over` or the follower's own stop is set."""

    def __init__(self, pk: int, settings: tuple[Any, ...], stop: threading.Event) -> None:
        """settings: the name of the connection, then what it is followed with."""
        super().__init__(name=f"follow-{settings[0]}", daemon=True)
        self.pk, self.settings, self.stop_all, self.over = pk, settings, stop, threading.Event()
        self.progress = Progress(f"followed {settings[0]}", STUCK_S)
        self.written_at = float("-inf")
        self.following: Following | None = None
        self.stored: dict[str, Any] = {}  # the cluster's own expected starts and constraints, as stored last

    def run(self) -> None:
        self.progress.own()
        while not self._ended(0):
            again = False
            try:
                again = self._follow(Connection.objects.select_related("run").get(pk=self.pk))
            except Connection.DoesNotExist:
                return
            except (ConnectorError, ModelError, UnknownName) as error:
                self._failed(str(error))
            except LeaseLost as error:
                log.info("%s: %s", self.name, error)
            except (DatabaseError, OSError) as error:
                log.warning("%s waits: %s", self.name, error)
            except Exception as error:
                log.exception("%s failed", self.name)
                self._failed(
                    f"Internal error of the follower ({type(error).__name__}: {error}). "
                    f"It tries again every {AGAIN_S:g} s; its log has the details."
                )
            finally:
                connection.close()  # this thread's own
            if not again:
                self._ended(AGAIN_S)

    def _ended(self, seconds: float) -> bool:
        """True if the thread has to end, after a wait of at most n seconds."""
        deadline = time.monotonic() + seconds
        while not (self.over.is_set() or self.stop_all.is_set()):
            self.progress.note()
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            self.over.wait(min(left, 0.2))
        return True

    def _follow(self, of: Connection) -> bool:
        """Following of the connection's run to its end; True if another run has begun."""
        connector = build(of.connector, of.parameters)
        sampling, samples = begin(of.sampler, of.sampler_parameters, of.health.get("samples"))
        try:
            before = of.run_id
            run, mirror = self._begin(of, connector)
            if run is None or mirror is None:
                self._ended(LEASE_AGAIN_S)
                return False
            with lease.Heartbeat(run, hangs=self.progress.fault):
                following = Following(
                    connector, mirror, stored.Writer(run, mirror), interval_s=of.interval_ms / 1000,
                    stopped=self._telling(of, border := Border(run, mirror)), sampling=sampling, bordered=True,
                )  # fmt: skip
                if run.pk == before:
                    following.resume(of.health)
                following.health.samples = asdict(samples) if samples.sampler else {}
                self.following = following
                following.run()
                crossed = bool(following.after) or border.reached(following.confirming.unasked)
                if crossed:
                    memory.give_back()
                    cross(of, run, mirror, tuple(following.after.values()))
                lease.release(run)
                return crossed
        finally:
            connector.close()
            if sampling is not None:
                sampling.close()
            self.following = None  # and with it the mirror: that of the next run needs the memory

    def _begin(self, of: Connection, connector: Connector) -> tuple[Run | None, Mirror | None]:
        """The run under a lease of ours, and the mirror as the log has it; (None, None) while it is not ours."""
        if of.run is None or of.run.status not in Run.ACTIVE:
            first = connector.snapshot()
            if not first.complete:
                raise ConnectorError(first.why or "the answer of the cluster is not complete")
            stored.begin(of, first)
        assert of.run is not None
        run = lease.take(of.run.pk, simulated=False)
        return run, None if run is None else stored.load(of)

    def _telling(self, of: Connection, border: Border) -> Callable[[float], bool]:
        """Wait function of `Following`, which also writes the health and returns freed memory."""

        def stopped(seconds: float) -> bool:
            following = self.following
            assert following is not None  # which waits by this function
            memory.give_back_at_times()
            if time.monotonic() - self.written_at > HEALTH_S:
                self.written_at = time.monotonic()
                Connection.objects.filter(pk=of.pk).update(health=asdict(following.current_health()))
                self._store_constraints(following)
            next_run = bool(following.after) or border.reached(following.confirming.unasked)
            return next_run or self._ended(seconds)

        return stopped

    def _store_constraints(self, following: Following) -> None:
        """Storage of the cluster's own expected starts and its constraints, for the forecasts."""
        if not following.applied:
            return
        connector = following.connector
        found = {"estimates": dict(connector.estimate()), "constraints": connector.constraints().plain()}
        if found != self.stored:
            self.stored = found
            Forecasting.objects.update_or_create(connection_id=self.pk, defaults=found)

    def _failed(self, error: str) -> None:
        """A cluster that cannot be read at all, or whose settings are wrong: the error is shown on its page."""
        of = Connection.objects.get(pk=self.pk)
        since = of.health.get("failing_since") or time.time()
        Connection.objects.filter(pk=self.pk).update(health={**of.health, "failing_since": since, "error": error})
