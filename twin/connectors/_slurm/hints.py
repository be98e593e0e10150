"""Hints over UDP: a datagram says that a job has started or ended; its content is ignored, as anyone may send it."""

from __future__ import annotations

import select
import socket
import time

from twin.connectors.facts import ConnectorError

GATHER_S = 0.05  # what comes within this time after a hint is one hint: jobs start in bursts


class Hints:
    """A socket that waits for datagrams; without a port it only waits."""

    def __init__(self, port: int | None, host: str = "127.0.0.1") -> None:
        self._socket: socket.socket | None = None
        if port is None:
            return
        try:
            family = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0][0]
            self._socket = socket.socket(family, socket.SOCK_DGRAM)
            self._socket.bind((host, port))
        except OSError as error:
            self.close()
            raise ConnectorError(
                f"hints cannot be received at UDP {host}:{port}: {error.strerror or error}; choose another hook_port"
            )
        self._socket.setblocking(False)

    @property
    def port(self) -> int | None:
        """The port that was bound, also where 0 was asked for."""
        return self._socket.getsockname()[1] if self._socket else None

    def wait(self, ms: int) -> bool:
        """Wait of up to n milliseconds; True soon after a datagram."""
        if self._socket is None:
            time.sleep(max(ms, 0) / 1000)
            return False
        if not select.select([self._socket], [], [], max(ms, 0) / 1000)[0]:
            return False
        time.sleep(GATHER_S)
        self._drain(self._socket)
        return True

    def close(self) -> None:
        """Release of the port."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    @staticmethod
    def _drain(receiver: socket.socket) -> None:
        try:
            while True:
                receiver.recv(64)
        except OSError:
            return
