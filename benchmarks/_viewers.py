"""The child process of viewers.py: WebSockets of one run, some of which never read, on plain sockets without a library.

python -m benchmarks._viewers PORT RUN COOKIE COUNT STUCK SECONDS   prints JSON
"""

from __future__ import annotations

import base64
import os
import re
import selectors
import socket
import sys
import time
from dataclasses import dataclass

import orjson

LAST = re.compile(rb'"last":(\d+),"sim_ms":(\d+)')
RECEIVED = 1 << 18  # bytes read at a time
STUCK_BUFFER = 4_096  # bytes that the system takes for a client that does not read
LONG, HUGE = 126, 127  # lengths of frames of RFC 6455 that say how long the length is
PING, PONG = 0x9, 0xA


@dataclass
class Arrival:
    """Times at which one message was published and arrived, in s, and the number of viewers that have it."""

    published_s: float
    first_s: float
    last_s: float
    viewers: int = 0


class Viewer:
    """A client that reads: times of the messages that arrived whole."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.data = bytearray()
        self.seq, self.gaps = 0, 0

    def take(self, arrivals: dict[int, Arrival]) -> bool:
        """True until the server closes the connection. arrivals: by the last event."""
        try:
            found = self.connection.recv(RECEIVED)
        except OSError:
            return False
        self.data += found
        now = time.time()
        while (message := self._next()) is not None:
            header = LAST.search(message[:400])
            if header is not None and message[:4] == b"TWN1":
                last, at_ms = int(header[1]), int(header[2])
                self.seq = last
                arrival = arrivals.setdefault(last, Arrival(at_ms / 1000, now, now))
                arrival.last_s, arrival.viewers = now, arrival.viewers + 1
            elif b"snapshot_needed" in message:
                self.gaps += 1
        return bool(found)

    def _next(self) -> bytes | None:
        data = self.data
        if len(data) < 2:
            return None
        size, start = data[1] & 127, 2
        if size >= LONG:
            start += 2 if size == LONG else 8
            size = int.from_bytes(data[2:start])
        if len(data) < start + size:
            return None
        kind, message = data[0] & 15, bytes(data[start : start + size])
        del data[: start + size]
        if kind == PING:  # masked with zeros
            self.connection.send(bytes((0x80 | PONG, 0x80 | len(message), 0, 0, 0, 0)) + message)
        return message


def connect(port: int, run: int, cookie: str, stuck: bool) -> socket.socket:
    """An open WebSocket; a stuck one has small buffers."""
    connection = socket.socket()
    if stuck:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, STUCK_BUFFER)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", port))
    key = base64.b64encode(os.urandom(16)).decode()
    lines = (
        f"GET /ws/runs/{run}/ HTTP/1.1", f"Host: 127.0.0.1:{port}", f"Origin: http://127.0.0.1:{port}",
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}",
        f"Cookie: sessionid={cookie}", "", "",
    )  # fmt: skip
    connection.sendall("\r\n".join(lines).encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(1)
    if b" 101 " not in head:
        raise RuntimeError(f"the server refused the socket: {head.decode()}")
    return connection


def main() -> None:
    port, run, cookie, count, stuck, seconds = sys.argv[1:]
    silent = [connect(int(port), int(run), cookie, stuck=True) for _ in range(int(stuck))]
    viewers = [Viewer(connect(int(port), int(run), cookie, stuck=False)) for _ in range(int(count) - int(stuck))]
    selector = selectors.EpollSelector()
    for viewer in viewers:
        viewer.connection.setblocking(False)
        selector.register(viewer.connection, selectors.EVENT_READ, viewer)
    print("connected", flush=True)
    arrivals: dict[int, Arrival] = {}
    closed = 0
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for key, _ in selector.select(0.2):
            if not key.data.take(arrivals):
                selector.unregister(key.fileobj)
                closed += 1
    whole = [arrival for arrival in arrivals.values() if arrival.viewers == len(viewers)]
    print(
        orjson.dumps(
            {
                "spread_ms": [(arrival.last_s - arrival.first_s) * 1000 for arrival in whole],
                "age_ms": [(arrival.last_s - arrival.published_s) * 1000 for arrival in whole],
                "messages": len(arrivals),
                "last": min(viewer.seq for viewer in viewers),
                "gaps": sum(viewer.gaps for viewer in viewers),
                "closed": closed,
                "cut_off": sum(map(_ended, silent)),
            }
        ).decode()
    )


def _ended(connection: socket.socket) -> bool:
    """True if the server has closed the connection after what it had sent."""
    connection.settimeout(1)
    try:
        while connection.recv(RECEIVED):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


if __name__ == "__main__":
    main()
