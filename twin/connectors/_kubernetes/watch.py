"""Watches: one thread for each source, all of them into one queue."""

from __future__ import annotations

import http.client
import queue
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from twin.connectors._kubernetes.client import Client, Refusal, Stream
from twin.connectors._kubernetes.kinds import Source
from twin.connectors.facts import ConnectorError

MAX_WAITING = 1000  # events between the threads and whoever asks; more wait in the network
IDLE_S = 90.0  # a server sends a bookmark about each minute, so that a watch that says nothing for longer is lost
RENEW_S = 600  # the server is asked to end a watch after that, because the right to watch is checked when it begins
MAX_EMPTY = 3  # watches in a row that end within a second without a word


class Event(NamedTuple):
    """Message of a watch: a change of an object, a request to list its source again, or a lost connection.

    verb  ADDED, MODIFIED, DELETED; RELIST; LOST
    """

    source: Source
    verb: str
    obj: Mapping[str, Any]
    error: ConnectorError | None = None


RELIST, LOST = "RELIST", "LOST"


class Watches:
    """The watches of all sources, each from the version of its list on."""

    def __init__(self, client: Client, versions: Mapping[Source, str]) -> None:
        self._client = client
        self._queue: queue.Queue[Event] = queue.Queue(MAX_WAITING)
        self._watches: list[_Watch] = []
        self.stopped = threading.Event()
        for source, version in versions.items():
            self.begin(source, version)

    def begin(self, source: Source, version: str) -> None:
        """Watch of a source from that version on."""
        watch = _Watch(self._client, source, version, self)
        self._watches = [running for running in self._watches if running.is_alive()] + [watch]
        watch.start()

    def take(self, timeout_s: float) -> list[Event]:
        """All events that are there; waits for the first one, not longer than that."""
        events: list[Event] = []
        try:
            events.append(self._queue.get(timeout=timeout_s))
            while len(events) < MAX_WAITING:
                events.append(self._queue.get_nowait())
        except queue.Empty:
            pass
        return events

    def put(self, event: Event) -> None:
        """Hand-over of an event to the queue, unless the watches were stopped."""
        while not self.stopped.is_set():
            try:
                self._queue.put(event, timeout=0.5)
                break
            except queue.Full:
                continue

    def close(self) -> None:
        """End of all threads and connections."""
        self.stopped.set()
        for watch in self._watches:
            watch.stop()
        for watch in self._watches:
            watch.join(self._client.timeout_s + 1)


class _Watch(threading.Thread):
    """The watch of one source; resumes by itself where it ended, as long as the server still has that version."""

    def __init__(self, client: Client, source: Source, version: str, watches: Watches) -> None:
        super().__init__(name=f"watch {source}", daemon=True)
        self._client, self._source, self._version, self._watches = client, source, version, watches
        self._stream: Stream | None = None

    def run(self) -> None:
        try:
            self._watch()
        except Refusal as refusal:
            self._end(RELIST, None) if refusal.code == 410 else self._end(LOST, refusal)
        except ConnectorError as error:
            self._end(LOST, error)
        except (KeyError, TypeError, ValueError) as error:
            self._end(
                LOST,
                ConnectorError(
                    f"Kubernetes: the watch of {self._source} sent something that is not an event ({error!r:.100})"
                ),
            )

    def _watch(self) -> None:
        """Watch until the source has to be listed again; it resumes at that version if a connection ends."""
        empty = 0
        while not self._watches.stopped.is_set():
            began, heard = time.monotonic(), False
            self._stream = self._open()
            try:
                for text in self._stream.lines() if not self._watches.stopped.is_set() else ():
                    heard = True
                    if not self._tell(orjson.loads(text)):
                        self._end(RELIST, None)
                        return
            except (OSError, http.client.HTTPException):
                pass  # the connection broke, or was silent for too long
            finally:
                self._stream.close()
            empty = 0 if heard or time.monotonic() - began > 1 else empty + 1
            if empty == MAX_EMPTY:
                raise ConnectorError(f"Kubernetes: the server ends each watch of {self._source} immediately")

    def stop(self) -> None:
        """Wake-up of the thread from another one."""
        if self._stream is not None:
            self._stream.stop()

    def _open(self) -> Stream:
        query: dict[str, str | int] = {"watch": "1", "resourceVersion": self._version, "allowWatchBookmarks": "true"}
        return self._client.stream(self._source.path, {**query, "timeoutSeconds": RENEW_S}, IDLE_S)

    def _tell(self, event: Mapping[str, Any]) -> bool:
        """One event for the queue; False if the watch has to end: ERROR with HTTP 200, code 410 for a lost version."""
        verb, obj = event["type"], event["object"]
        if verb == "ERROR":
            return False
        if verb != "BOOKMARK":
            self._watches.put(Event(self._source, verb, obj))
        self._version = obj["metadata"]["resourceVersion"]
        return True

    def _end(self, verb: str, error: ConnectorError | None) -> None:
        self._watches.put(Event(self._source, verb, {}, error))
