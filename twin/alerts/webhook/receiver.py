"""The receiver of notices: its address and secret from the environment, and one call with a limit on its time.

The address may contain a secret. Only its scheme and host are shown, logged or given in messages.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import socket
import ssl
import threading
from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from django.conf import settings

MAX_S = 5.0  # of one call, whatever the receiver does
SIGNATURE, DELIVERY = "X-Twin-Signature", "X-Twin-Delivery"
UNFIT = (408, 425, 429)  # of 4xx: the receiver is busy, not the notice wrong


@dataclass(frozen=True)
class Receiver:
    """Address and secret; `shown` may be displayed."""

    url: str = field(repr=False)
    secret: str = field(repr=False)

    @property
    def shown(self) -> str:
        """Scheme and host."""
        parts = urlsplit(self.url)
        host = f"[{parts.hostname}]" if ":" in str(parts.hostname) else parts.hostname
        return f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")

    @property
    def credentials(self) -> str:
        """Value of the header Authorization for a name and password in the address; "" without."""
        parts = urlsplit(self.url)
        if parts.username is None:
            return ""
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return f"Basic {b64encode(pair.encode()).decode()}"


@dataclass(frozen=True, slots=True)
class Answer:
    """Result of a call. error: "" if the notice was accepted. busy: other notices would fail too."""

    error: str = ""
    busy: bool = False


def configured() -> Receiver | None:
    """The receiver; None where no address is set. ValueError names what is wrong with the setting."""
    url = settings.ALERT_WEBHOOK_URL
    if not url:
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or any(not " " < char < "\x7f" for char in url):
        raise ValueError("ALERT_WEBHOOK_URL must be an address that begins with http:// or https:// and names a host")
    return Receiver(url, settings.ALERT_WEBHOOK_SECRET)


def signature(secret: str, body: bytes) -> str:
    """Value of the header X-Twin-Signature."""
    return f"sha256={hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}"


def post(receiver: Receiver, key: str, body: bytes, limit_s: float = MAX_S) -> Answer:
    """Delivery of one notice. After `limit_s` the call is given up, also if the receiver sends byte by byte."""
    call = _Call(receiver, key, body, limit_s)
    call.start()
    call.join(limit_s)
    return call.result(limit_s)


class _Call(threading.Thread):
    """The call in a thread, because neither a name that is looked up nor a slow answer ends at a time limit."""

    def __init__(self, receiver: Receiver, key: str, body: bytes, limit_s: float) -> None:
        super().__init__(daemon=True, name="alert notice")
        self.receiver, self.key, self.body = receiver, key, body
        parts = urlsplit(receiver.url)
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(str(parts.hostname), parts.port, timeout=limit_s)
        self.answer: Answer | None = None

    def run(self) -> None:
        try:
            self.connection.request("POST", self.path, self.body, self._headers())
            status = self.connection.getresponse().status
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            self.answer = Answer(_reason(error), busy=True)
        else:
            self.answer = _judged(status)
        finally:
            self.connection.close()

    def result(self, limit_s: float) -> Answer:
        """The answer until now; without one the connection is closed, which ends the thread with an error."""
        answer = self.answer
        if answer is not None:
            return answer
        own = self.connection.sock
        if own is not None:
            try:
                own.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended by itself
        return Answer(f"no answer within {limit_s:g} s", busy=True)

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "User-Agent": "edge-cloud-twin", DELIVERY: self.key}
        if self.receiver.credentials:
            headers["Authorization"] = self.receiver.credentials
        if self.receiver.secret:
            headers[SIGNATURE] = signature(self.receiver.secret, self.body)
        return headers


def _judged(status: int) -> Answer:
    if 200 <= status < 300:
        return Answer()
    wrong = 400 <= status < 500 and status not in UNFIT
    moved = "; redirects are not followed" if 300 <= status < 400 else ""
    return Answer(f"the receiver answered {status}{moved}", busy=not wrong)


def _reason(error: Exception) -> str:
    """The error in words, without the address."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {error.reason or 'the connection failed'}"
    if isinstance(error, socket.gaierror):
        return "the host name is not known"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "no valid HTTP answer"
