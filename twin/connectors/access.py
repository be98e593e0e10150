"""Access to a server over HTTP: its address, and credentials from files or variables, never as typed values."""

from __future__ import annotations

import os
import ssl
import tempfile
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from twin.connectors.facts import ConnectorError

MAX_FILE_BYTES = 1_000_000
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    """Address and credentials of one server.

    example     an address as it should look, for messages
    token_from  file, or $NAME of an environment variable; read for each connection, because tokens are renewed
    """

    url: str
    ca_file: str = ""
    ca_text: str = ""
    token_from: str = ""
    token_text: str = field(default="", repr=False)
    certificate_file: str = ""
    certificate_text: str = ""
    key_file: str = ""
    key_text: str = field(default="", repr=False)
    server_name: str = ""
    example: str = "https://host:6443"

    def __post_init__(self) -> None:
        parts = _parts(self.url, self.example)
        if parts.scheme == "http" and self.has_token and parts.hostname not in LOOPBACK:
            raise ConnectorError(
                f"{self.url}: a token must not be sent without TLS; give an address that begins with https://"
            )

    @property
    def has_token(self) -> bool:
        """True if a token is sent."""
        return bool(self.token_from or self.token_text)

    @property
    def is_somebody(self) -> bool:
        """True if a token or a certificate identifies the client."""
        return self.has_token or bool(self.certificate_file or self.certificate_text)

    @property
    def host(self) -> tuple[str, int]:
        """Host and port."""
        parts = _parts(self.url, self.example)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def prefix(self) -> str:
        """Path before those of the API, where a gateway serves several clusters."""
        return _parts(self.url, self.example).path.rstrip("/")

    def token(self) -> str:
        """The token as it is now; "" where none is used."""
        if not self.token_from:
            return self.token_text
        if self.token_from.startswith("$"):
            text = os.environ.get(self.token_from[1:], "")
            if not text:
                raise ConnectorError(
                    f"token_from: the environment variable {self.token_from[1:]} is not set where the twin runs"
                )
        else:
            text = read_text("token_from", self.token_from, secret=True)
        text = text.strip()
        if not text.isascii() or not text.isprintable() or " " in text:
            raise ConnectorError(
                "token_from must name a file or variable that holds one line, the token; its content is not one"
            )
        return text

    def tls(self) -> ssl.SSLContext | None:
        """Settings of TLS; None for http."""
        if _parts(self.url, self.example).scheme == "http":
            return None
        context = ssl.create_default_context()
        if self.ca_file or self.ca_text:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            text = self.ca_text or read_text("ca_file", self.ca_file)
            try:
                context.load_verify_locations(cadata=text)
            except (ssl.SSLError, ValueError) as error:
                raise ConnectorError(
                    f"ca_file {self.ca_file or 'of the kubeconfig'}: it must hold certificates in "
                    "PEM form; copy the cluster's ca.crt"
                ) from error
        if self.certificate_file or self.certificate_text:
            self._load_certificate(context)
        return context

    def _load_certificate(self, context: ssl.SSLContext) -> None:
        certificate = self.certificate_text or read_text("client-certificate", self.certificate_file)
        key = self.key_text or read_text("client-key", self.key_file, secret=True)
        with tempfile.NamedTemporaryFile(
            "w", prefix="twin-client-", suffix=".pem"
        ) as file:  # ssl takes them from a file only
            file.write(f"{certificate}\n{key}\n")
            file.flush()
            try:
                context.load_cert_chain(file.name)
            except (ssl.SSLError, ValueError) as error:
                raise ConnectorError(
                    "kubeconfig: client-certificate and client-key must be a pair in PEM form"
                ) from error


def _parts(url: str, example: str) -> Any:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("https", "http") and parts.hostname and parts.port != 0 and parts.username is None
    except ValueError:
        usable = False
    if not usable:
        raise ConnectorError(f"url must look like {example}, got {url[:100]!r}")
    return parts


def read_text(what: str, path: str, secret: bool = False) -> str:
    """Text of a file; where a secret is expected, the message does not repeat what was typed: it may be the secret."""
    shown = "" if secret else f" {path}"
    hint = "; it must be the path of a file, or $NAME of an environment variable" if what == "token_from" else ""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ConnectorError(f"{what}{shown}: the file is longer than {MAX_FILE_BYTES:,} bytes")
        return data.decode()
    except (OSError, ValueError) as error:
        why = (error.strerror or "it cannot be read") if isinstance(error, OSError) else "it is not text"
        raise ConnectorError(f"{what}{shown}: {why}{hint}") from error
