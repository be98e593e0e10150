"""Address of the API server and credentials: given by parameters, a kubeconfig, or the pod the twin runs in."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from twin.connectors.access import Access, read_text
from twin.connectors.facts import ConnectorError

IN_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")


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
        config = yaml.safe_load(read_text("kubeconfig", str(path)))
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
            f"kubeconfig {path}: its user logs in through a command or a provider, which is not supported; "
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
