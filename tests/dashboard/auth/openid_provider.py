"""A small OpenID Connect provider over loopback: discovery, login, tokens signed by RS256, keys, and further claims.

It asks nobody for a password: `provider.claims` says who logs in. `provider.faults` changes what it does.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "twin", "a secret of the client"


class Provider:
    """What it knows: its key, who logs in, and the codes that it has given out."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.claims: dict[str, Any] = {"sub": "u-1", "preferred_username": "vera", "groups": ["ops"]}
        self.faults: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}

    def discovery(self) -> dict[str, str]:
        names = {
            "authorization_endpoint": "authorize",
            "token_endpoint": "token",
            "jwks_uri": "keys",
            "userinfo_endpoint": "userinfo",
            "end_session_endpoint": "logout",
        }
        return {"issuer": self.address} | {name: f"{self.address}/{path}" for name, path in names.items()}

    def keys(self) -> dict[str, Any]:
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": "k1", "alg": "RS256", "use": "sig"}]}

    def authorize(self, asked: dict[str, str]) -> str:
        """The address to which the browser is sent back."""
        assert asked["response_type"] == "code"
        assert (asked["client_id"], asked["code_challenge_method"]) == (CLIENT, "S256")
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        back = {"code": code, "state": asked["state"]} | self.faults.get("back", {})
        return f"{asked['redirect_uri']}?{urlencode(back)}"

    def token(self, asked: dict[str, str]) -> dict[str, Any] | None:
        """The answer to a code; None where it is refused, as with a wrong verifier of PKCE or a second use."""
        login = self.codes.pop(asked.get("code", ""), None)
        digest = hashlib.sha256(asked.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if login is None or challenge != login["code_challenge"] or asked["client_secret"] != SECRET:
            return None
        now = int(time.time())
        claims = {"iss": self.address, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": login["nonce"]}
        claims |= {"sub": self.claims["sub"]} | self.faults.get("token", {})
        signed = jwt.encode(claims, self.faults.get("key", self.key), algorithm="RS256", headers={"kid": "k1"})
        return {"access_token": "a", "token_type": "Bearer", "id_token": signed}


class Handler(BaseHTTPRequestHandler):
    provider: Provider

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path == "/.well-known/openid-configuration":
            self._json(200, self.provider.discovery())
        elif path == "/keys":
            self._json(200, self.provider.keys())
        elif path == "/userinfo":
            self._json(200, self.provider.claims | self.provider.faults.get("userinfo", {}))
        elif path == "/authorize":
            asked = {key: values[0] for key, values in parse_qs(urlsplit(self.path).query).items()}
            self.send_response(302)
            self.send_header("Location", self.provider.authorize(asked))
            self.end_headers()
        else:
            self._json(404, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        given = self.provider.token({key: values[0] for key, values in parse_qs(body).items()})
        self._json(400 if given is None else 200, given or {"error": "invalid_grant"})

    def _json(self, status: int, body: dict[str, Any]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def running() -> Iterator[Provider]:
    """A provider that listens until the end of the block; `provider.stop()` ends it earlier."""
    handler = type("OneProvider", (Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    provider = handler.provider = Provider(f"http://127.0.0.1:{server.server_port}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()

    def stop() -> None:
        server.shutdown()
        server.server_close()

    provider.stop = stop
    yield provider
    stop()
