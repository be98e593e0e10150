"""Address of the API server and credentials: given by parameters, a kubeconfig, or the pod the twin runs in."""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from twin.connectors.facts import ConnectorError

IN_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
MAX_FILE_BYTES = 1_000_000
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach one API server.

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

    def __post_init__(self) -> None:
        parts = _parts(self.url)
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
        parts = _parts(self.url)
        return parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)

    @property
    def prefix(self) -> str:
        """Path before those of the API, where a gateway serves several clusters."""
        return _parts(self.url).path.rstrip("/")

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
            text = _read("token_from", self.token_from, secret=True)
        text = text.strip()
        if not text.isascii() or not text.isprintable() or " " in text:
            raise ConnectorError("token_from must lead to one line with a bearer token; what is there is none")
        return text

    def tls(self) -> ssl.SSLContext | None:
        """Settings of TLS; None for http."""
        if _parts(self.url).scheme == "http":
            return None
        context = ssl.create_default_context()
        if self.ca_file or self.ca_text:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            text = self.ca_text or _read("ca_file", self.ca_file)
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
        certificate = self.certificate_text or _read("client-certificate", self.certificate_file)
        key = self.key_text or _read("client-key", self.key_file, secret=True)
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


def access(parameters: Any) -> Access:
    """Access by the connector's parameters."""
    if parameters.kubeconfig:
        if parameters.url:
            raise ConnectorError("give url or kubeconfig, not both")
        return _from_kubeconfig(parameters)
    if parameters.url:
        return Access(parameters.url, ca_file=parameters.ca_file, token_from=parameters.token_from)
    host = os.environ.get("KUBERNETES_SERVICE_HOST")
    if not host:
        raise ConnectorError(
            "url is missing: give the address of the API server (kubectl cluster-info prints it) or a kubeconfig"
        )
    port = os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Access(url, ca_file=str(IN_POD / "ca.crt"), token_from=str(IN_POD / "token"))


def _from_kubeconfig(parameters: Any) -> Access:
    path = Path(parameters.kubeconfig).expanduser()
    try:
        config = yaml.safe_load(_read("kubeconfig", str(path)))
    except yaml.YAMLError as error:
        raise ConnectorError(f"kubeconfig {path}: the file is not YAML") from error
    if not isinstance(config, dict):
        raise ConnectorError(f"kubeconfig {path}: the file must hold clusters, users and contexts")
    context = _entry(path, config, "context", parameters.context or config.get("current-context") or "")
    cluster = _entry(path, config, "cluster", str(context.get("cluster", "")))
    user = _entry(path, config, "user", str(context.get("user", ""))) if context.get("user") else {}
    if cluster.get("insecure-skip-tls-verify"):
        raise ConnectorError(
            f"kubeconfig {path}: insecure-skip-tls-verify is not supported; give "
            "certificate-authority with the cluster's ca.crt"
        )
    if "exec" in user or "auth-provider" in user:
        raise ConnectorError(
            f"kubeconfig {path}: its user logs in by a command or a provider, which is not supported; "
            "make a ServiceAccount with a token (docs/connect-kubernetes.md) and give url, ca_file and token_from"
        )

    def file(entry: Mapping[str, Any], key: str) -> str:
        return str(path.parent / str(entry[key])) if entry.get(key) else ""

    return Access(
        str(cluster.get("server", "")),
        ca_file=parameters.ca_file or file(cluster, "certificate-authority"),
        ca_text=_decoded(path, cluster, "certificate-authority-data"),
        token_from=parameters.token_from or file(user, "tokenFile"),
        token_text=str(user.get("token") or ""),
        certificate_file=file(user, "client-certificate"),
        certificate_text=_decoded(path, user, "client-certificate-data"),
        key_file=file(user, "client-key"),
        key_text=_decoded(path, user, "client-key-data"),
        server_name=str(cluster.get("tls-server-name") or ""),
    )


def _entry(path: Path, config: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    entries = {
        str(entry.get("name")): entry.get(kind) for entry in config.get(f"{kind}s") or () if isinstance(entry, dict)
    }
    entry = entries.get(name)
    if not isinstance(entry, dict):
        raise ConnectorError(f"kubeconfig {path}: it has no {kind} {name!r}; known: {', '.join(entries) or 'none'}")
    return entry


def _decoded(path: Path, entry: Mapping[str, Any], key: str) -> str:
    try:
        return base64.b64decode(str(entry.get(key) or ""), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise ConnectorError(f"kubeconfig {path}: {key} must be base64 of a PEM text") from error


def _parts(url: str) -> Any:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("https", "http") and parts.hostname and parts.port != 0 and parts.username is None
    except ValueError:
        usable = False
    if not usable:
        raise ConnectorError(f"url must look like https://host:6443, got {url[:100]!r}")
    return parts


def _read(what: str, path: str, secret: bool = False) -> str:
    """Text of a file; where a secret is expected, the message does not repeat what was typed: it may be the secret."""
    shown = "" if secret else f" {path}"
    hint = "; it must be the path of a file, or $NAME of an environment variable" if what == "token_from" else ""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ConnectorError(f"{what}{shown}: the file is longer than {MAX_FILE_BYTES} bytes")
        return data.decode()
    except (OSError, ValueError) as error:
        why = (error.strerror or "it cannot be read") if isinstance(error, OSError) else "it is not text"
        raise ConnectorError(f"{what}{shown}: {why}{hint}") from error
