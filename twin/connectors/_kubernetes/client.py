"""Requests to an API server: JSON answers and streams of lines, with a time limit and one sentence for errors."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode

import orjson

from twin.connectors._kubernetes.clock import Clock, ours_ms
from twin.connectors._kubernetes.quantities import line
from twin.connectors.access import Access
from twin.connectors.answers import BLOCK_BYTES, body_of
from twin.connectors.facts import ConnectorError
from twin.processes import progress

MAX_ANSWER_BYTES = 64 << 20
MAX_TIMEOUTS = 6  # request timeouts that all blocks of one answer may take together
MAX_LINE_BYTES = 16 << 20  # an object of the API has at most about 2 MB
BROKEN = (http.client.RemoteDisconnected, http.client.CannotSendRequest, BrokenPipeError, ConnectionResetError)


class Refusal(ConnectorError):
    """An answer other than 200, with its code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class Client:
    """Requests to one API server; a kept connection for answers, a connection of its own for each stream."""

    def __init__(self, access: Access, timeout_s: float) -> None:
        self.access = access
        self.timeout_s = timeout_s
        self.clock = Clock()
        self.calls, self.call_ms = 0, 0
        self._tls = access.tls()
        self._kept: http.client.HTTPConnection | None = None
        self._lock = threading.Lock()

    def get(self, path: str, query: Mapping[str, str | int] | None = None) -> Any:
        """The JSON answer for a path."""
        return self._ask("GET", path, query)

    def find(self, path: str) -> Any:
        """The JSON answer, or None where the server has nothing at that path."""
        try:
            return self.get(path)
        except Refusal as refusal:
            if refusal.code == 404:
                return None
            raise

    def require_ready(self) -> None:
        """ConnectorError while the server starts: it answers then as if kinds that are installed were not."""
        try:
            self._answer("GET", "/readyz")
        except Refusal as refusal:
            if refusal.code not in (401, 403, 404):  # it cannot be asked
                raise ConnectorError(
                    f"{self._name}: the server is not ready ({refusal.code}); it is starting or stopping"
                ) from refusal

    def post(self, path: str, body: Any) -> Any:
        """The JSON answer to a question with a body."""
        return self._ask("POST", path, None, orjson.dumps(body))

    def stream(self, path: str, query: Mapping[str, str | int], idle_s: float) -> Stream:
        """A stream of lines that is open; it is lost when nothing comes for `idle_s`."""
        connection = self._connect()
        try:
            response = self._send(connection, "GET", path, query, None)
            if response.status != 200:
                raise self._refusal(path, response.status, response.read(BLOCK_BYTES))
            assert connection.sock is not None
            connection.sock.settimeout(idle_s)
            return Stream(connection, response)
        except BaseException as error:
            connection.close()
            self._translate(error)
            raise

    def close(self) -> None:
        """End of the kept connection."""
        with self._lock:
            self._drop()

    def _ask(self, method: str, path: str, query: Mapping[str, str | int] | None, body: bytes | None = None) -> Any:
        try:
            return orjson.loads(self._answer(method, path, query, body))
        except orjson.JSONDecodeError as error:
            raise ConnectorError(
                f"{self._name} is not a Kubernetes API: its answer to {path} is not JSON; correct the URL"
            ) from error

    def _answer(
        self, method: str, path: str, query: Mapping[str, str | int] | None = None, body: bytes | None = None
    ) -> bytes:
        began = time.monotonic()
        progress.calls(MAX_TIMEOUTS * self.timeout_s)
        with self._lock:
            try:
                status, data = self._exchange(method, path, query, body, began)
            except BaseException as error:
                self._drop()
                self._translate(error)
                raise
            finally:
                self.calls += 1
                self.call_ms += round((time.monotonic() - began) * 1000)
        if status not in (200, 201):
            raise self._refusal(path, status, data)
        return data

    def _exchange(
        self, method: str, path: str, query: Mapping[str, str | int] | None, body: bytes | None, began: float
    ) -> tuple[int, bytes]:
        kept, self._kept = self._kept, None
        if kept is not None:
            try:
                response = self._send(kept, method, path, query, body)
            except BROKEN:  # closed by the server since the last answer
                kept.close()
                kept = None
        if kept is None:
            kept = self._connect()
            response = self._send(kept, method, path, query, body)
        self._kept = kept
        data = self._read_all(response, began)
        response.close()  # read1 does not end a response of known length
        if response.will_close:
            self._drop()
        return response.status, data

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, query: Any, body: bytes | None
    ) -> Any:
        headers = {"Accept": "application/json", "User-Agent": "edge-cloud-twin"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        token = self.access.token()
        if token:
            headers["Authorization"] = f"Bearer {token}"
        asked = ours_ms()
        connection.request(method, self.access.prefix + path + (f"?{urlencode(query)}" if query else ""), body, headers)
        response = connection.getresponse()
        self.clock.see(response.headers.get("Date"), asked, ours_ms())
        return response

    def _read_all(self, response: http.client.HTTPResponse, began: float) -> bytes:
        def in_time() -> None:  # each block came in time, all of them together may not
            if time.monotonic() - began > MAX_TIMEOUTS * self.timeout_s:
                raise TimeoutError

        too_long = f"{self._name}: an answer is longer than {MAX_ANSWER_BYTES >> 20} MB; is this a Kubernetes API?"
        return body_of(response, MAX_ANSWER_BYTES, too_long, in_time)

    def _connect(self) -> http.client.HTTPConnection:
        return _Connection(*self.access.host, self._tls, self.access.server_name, self.timeout_s)

    def _drop(self) -> None:
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    @property
    def _name(self) -> str:
        return f"Kubernetes API {self.access.url}"

    def _refusal(self, path: str, status: int, data: bytes) -> Refusal:
        try:
            message = line(orjson.loads(data).get("message"))
        except (orjson.JSONDecodeError, AttributeError):
            message = line(data.decode("utf-8", "replace"), 100)
        if status in (401, 403) and not self.access.is_somebody:
            return Refusal(f"{self._name}: it refuses requests without a token; give token_from ({status})", status)
        if status == 401:
            source = self.access.token_from or "the kubeconfig"
            sent = (
                f"the token of {source} is not accepted: it has expired or belongs to another "
                "cluster; create one with kubectl create token"
            )
            return Refusal(f"{self._name}: {sent} (401 Unauthorized)", status)
        if status == 403:
            return Refusal(f"{self._name}: the account has no right for {path}: {message} (403 Forbidden)", status)
        return Refusal(f"{self._name}: the answer to {path} is {status}{': ' + message if message else ''}", status)

    def _translate(self, error: BaseException) -> None:
        """Translation of a network error to a ConnectorError, which is raised."""
        host, port = self.access.host
        if isinstance(error, ConnectorError):
            return
        if isinstance(error, socket.gaierror):
            message = f"the host name {host} is not known; correct the URL or the name server"
        elif isinstance(error, ssl.SSLCertVerificationError):
            ca = self.access.ca_file or ("the kubeconfig" if self.access.ca_text else "the system")
            message = (
                f"its certificate is not signed by the CA of {ca} ({error.verify_message}); give "
                "the cluster's own ca.crt as ca_file"
            )
        elif isinstance(error, ssl.SSLError):
            message = (
                f"port {port} does not answer in TLS ({line(error.reason or error)}); correct the "
                "port, or begin the URL with http://"
            )
        elif isinstance(error, TimeoutError):
            message = f"no answer within {self.timeout_s:g} s; the server hangs, or a firewall drops what is sent"
        elif isinstance(error, ConnectionRefusedError):
            message = f"nothing listens on port {port} of {host}; correct the URL, or start the server"
        elif isinstance(error, OSError | http.client.HTTPException):
            message = f"the connection failed ({line(error) or type(error).__name__})"
        else:
            return
        raise ConnectorError(f"{self._name}: {message}") from error


class Stream:
    """Lines of an answer that does not end by itself."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self._connection = connection
        self._response = response
        self._socket = connection.sock

    def lines(self) -> Iterator[bytes]:
        """Lines of the answer, until the server ends it. OSError and HTTPException when the connection is lost."""
        rest = b""
        while block := self._response.read1(BLOCK_BYTES):
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
            if len(rest) > MAX_LINE_BYTES:
                raise http.client.LineTooLong("an event")

    def stop(self) -> None:
        """Wake-up of the reader from another thread; the reader closes."""
        if self._socket is not None:
            try:
                # not SSLSocket.shutdown, which the reader would trip over
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
            except OSError:
                pass  # it is closed already

    def close(self) -> None:
        """End of the connection."""
        self._response.close()
        self._connection.close()


class _Connection(http.client.HTTPConnection):
    """A connection that sends small requests at once, notices a lost peer, may check another name than the host's."""

    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None, server_name: str, timeout_s: float) -> None:
        super().__init__(host, port, timeout=timeout_s)
        self._tls, self._server_name = tls, server_name

    def connect(self) -> None:
        super().connect()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if self._tls is not None:
            self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._server_name or self.host)
