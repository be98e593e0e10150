"""Instant queries to the HTTP API of a Prometheus: within a deadline and a bound on the answer."""

from __future__ import annotations

import http.client
import math
import socket
import ssl
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import orjson

from twin.connectors.access import Access
from twin.connectors.answers import body_of
from twin.connectors.facts import ConnectorError

MAX_ANSWER_BYTES = 32_000_000  # 1,000 nodes with 8 GPUs answer with about 1 MB


class Series(NamedTuple):
    """One series of an instant vector; value: None where it is NaN, infinite or no number."""

    labels: Mapping[str, str]
    at_s: float
    value: float | None


class Client:
    """Queries to one server, each over a connection of its own: there are few of them a minute."""

    def __init__(self, access: Access, timeout_s: float) -> None:
        self.access, self.timeout_s = access, timeout_s

    def query(self, expression: str, deadline: float) -> list[Series]:
        """The instant vector of an expression; deadline: of time.monotonic()."""
        target = f"{self.access.prefix}/api/v1/query?{urlencode({'query': expression})}"
        try:
            status, headers, body = self._get(target, deadline)
        except (OSError, http.client.HTTPException) as error:
            raise ConnectorError(f"{self._name}: {self._reason(error)}") from error
        if status in (301, 302, 303, 307, 308):
            place = " ".join(headers.get("Location", "another address").split())[:100]
            raise ConnectorError(
                f"{self._name}: it redirects to {place}; give the address of the API itself, behind any login"
            )
        if status in (401, 403):
            helps = "the token of token_from is not accepted" if self.access.has_token else "give token_from"
            raise ConnectorError(f"{self._name}: it refuses the request ({status}); {helps}")
        return self._vector(status, body)

    def _get(self, target: str, deadline: float) -> tuple[int, Any, bytes]:
        tls, (host, port) = self.access.tls(), self.access.host
        connection = (
            http.client.HTTPConnection(host, port, timeout=self._left(deadline))
            if tls is None
            else http.client.HTTPSConnection(host, port, timeout=self._left(deadline), context=tls)
        )
        headers = {"Accept": "application/json", "User-Agent": "edge-cloud-twin"}
        if token := self.access.token():
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request("GET", target, headers=headers)
            held = connection.sock  # the response takes it over where the server closes after its answer
            held.settimeout(self._left(deadline))
            response = connection.getresponse()
            body = body_of(
                response, MAX_ANSWER_BYTES,
                f"{self._name}: an answer is longer than {MAX_ANSWER_BYTES // 1_000_000} MB and was stopped; "
                "narrow it by the parameter labels",
                lambda: held.settimeout(self._left(deadline)),
            )  # fmt: skip
            return response.status, response.headers, body
        finally:
            connection.close()

    def _left(self, deadline: float) -> float:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def _vector(self, status: int, body: bytes) -> list[Series]:
        try:
            answer = orjson.loads(body)
            state = answer["status"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            kind = "HTML" if body.lstrip()[:1] == b"<" else "no JSON"
            raise ConnectorError(
                f"{self._name}: the answer ({status}) is {kind}, not that of a Prometheus API; correct the URL"
            ) from error
        if state != "success":
            message = " ".join(str(answer.get("error", "without a message")).split())[:200]
            raise ConnectorError(f"{self._name}: the query was refused ({status}): {message}")
        try:
            data = answer["data"]
            if data["resultType"] != "vector":
                raise ConnectorError(f"{self._name}: the answer is a {data['resultType']}, not a vector")
            return [Series(one["metric"], float(one["value"][0]), _number(one["value"][1])) for one in data["result"]]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ConnectorError(f"{self._name}: the answer is not a vector of series with values") from error

    @property
    def _name(self) -> str:
        return f"Prometheus {self.access.url}"

    def _reason(self, error: BaseException) -> str:
        host, port = self.access.host
        if isinstance(error, TimeoutError):
            return f"no answer within {self.timeout_s:g} s; it hangs or is overloaded, or a firewall drops the request"
        if isinstance(error, socket.gaierror):
            return f"the host name {host} is not known; correct the URL or the name server"
        if isinstance(error, ssl.SSLCertVerificationError):
            return f"its certificate is not trusted ({error.verify_message}); give its CA as ca_file"
        if isinstance(error, ssl.SSLError):
            return f"port {port} does not answer in TLS; correct the port, or begin the URL with http://"
        if isinstance(error, ConnectionRefusedError):
            return f"nothing listens on port {port} of {host}; correct the URL, or start the server"
        return f"the connection failed ({' '.join(str(error).split())[:100] or type(error).__name__})"


def _number(text: Any) -> float | None:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None
