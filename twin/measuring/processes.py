"""Processes of a measured training: workers and parameter servers that exchange gradients over loopback TCP.

The model is a perceptron with one hidden layer, trained by synchronous gradient descent in numpy. Each parameter server
holds a part of the parameters. In an iteration each worker computes the gradient of its own samples, sends each server
its part, and receives the new parameters once every worker has sent.
"""

from __future__ import annotations

import socket
import time
from multiprocessing.connection import Connection

import numpy as np

INPUTS = 128  # of a sample
RATE = 1e-3  # of the descent
TIMEOUT_S = 60.0  # for one message
WARM_UP = 3  # iterations that are not counted


def parameters(gradient_mb: float) -> int:
    """Number of parameters of the model whose gradient has about that size."""
    return max(1, round(gradient_mb * 1e6 / 4 / (INPUTS + 1))) * (INPUTS + 1)


def bounds(count: int, ps: int, part: int) -> tuple[int, int]:
    """First and last + 1 of the parameters that a parameter server holds."""
    return count * part // ps, count * (part + 1) // ps


def serve(channel: Connection, size: int, workers: int, iterations: int) -> None:
    """Parameter server: reports its port, then for each iteration adds the gradients and sends the parameters."""
    held = np.zeros(size, dtype=np.float32)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(TIMEOUT_S)
        channel.send(server.getsockname()[1])
        peers = [_tuned(server.accept()[0]) for _ in range(workers)]
    received = np.empty(size, dtype=np.float32)
    for _ in range(iterations):
        for peer in peers:
            _receive(peer, received)
            held -= RATE / workers * received
        for peer in peers:
            peer.sendall(held.data.cast("B"))
    for peer in peers:
        peer.close()


def work(channel: Connection, ports: list[int], count: int, batch: int, iterations: int, seed: int) -> None:
    """Worker: reports the median time of an iteration in ms, and the loss at the first and the last."""
    rng = np.random.default_rng(seed)
    hidden = count // (INPUTS + 1)
    inputs = rng.standard_normal((batch, INPUTS), dtype=np.float32)
    wanted = inputs[:, :1] * 2
    start = np.random.default_rng(0).standard_normal(count, dtype=np.float32) / np.float32(INPUTS**0.5)
    moved, gradient = np.zeros(count, dtype=np.float32), np.empty(count, dtype=np.float32)
    parts = [bounds(count, len(ports), part) for part in range(len(ports))]
    servers = [_tuned(socket.create_connection(("127.0.0.1", port), TIMEOUT_S)) for port in ports]
    losses, ends = [], []
    for _ in range(iterations):
        weights = start + moved
        first, last = weights[: INPUTS * hidden].reshape(INPUTS, hidden), weights[INPUTS * hidden :].reshape(hidden, 1)
        active = np.tanh(inputs @ first)
        error = (active @ last - wanted) / batch
        losses.append(float((error**2).sum() * batch))
        gradient[INPUTS * hidden :] = (active.T @ error).ravel()
        gradient[: INPUTS * hidden] = (inputs.T @ ((error @ last.T) * (1 - active**2))).ravel()
        for server, (low, high) in zip(servers, parts, strict=True):
            server.sendall(gradient[low:high].data.cast("B"))
        for server, (low, high) in zip(servers, parts, strict=True):
            _receive(server, moved[low:high])
        ends.append(time.perf_counter())
    channel.send((float(np.median(np.diff(ends[WARM_UP - 1 :]))) * 1000, losses[0], losses[-1]))
    for server in servers:
        server.close()


def _tuned(peer: socket.socket) -> socket.socket:
    peer.settimeout(TIMEOUT_S)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def _receive(peer: socket.socket, into: np.ndarray) -> None:
    """Content of the array, received from the peer; ConnectionError when that ends before."""
    view = into.data.cast("B")
    while view:
        count = peer.recv_into(view)
        if not count:
            raise ConnectionError("a process of the training ended early")
        view = view[count:]
