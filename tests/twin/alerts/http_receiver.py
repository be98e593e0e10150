"""A real HTTP server that takes notices: it accepts, fails, refuses, hangs, or answers byte by byte."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ACCEPT, HANG, DRIP, CLOSE = 204, "hang", "drip", "close"


class Receiving(ThreadingHTTPServer):
    """`answer`: a status, HANG, DRIP or CLOSE, or a function of the path and the body that gives one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = ACCEPT
        self.received: list[tuple[dict[str, str], bytes]] = []  # headers and body of each call
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook/of-a-secret-path"

    def close(self) -> None:
        self.released.set()
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((dict(self.headers), body))
        answer = self.server.answer
        answer = answer(self.path, body) if callable(answer) else answer
        if answer == HANG:
            self.server.released.wait()
        elif answer == DRIP:
            while not self.server.released.wait(0.02):
                try:
                    self.wfile.write(b"H")
                except OSError:
                    return
        elif answer != CLOSE:
            self.send_response(answer)
            self.send_header("Location", self.server.url)
            self.end_headers()

    def log_message(self, *_) -> None:
        pass
