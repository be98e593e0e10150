"""JSON form of facts: one snapshot or one fact as text, and back."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from twin.connectors.facts import ConnectorError, JobFact, NodeFact, Snapshot

Fact = TypeVar("Fact", Snapshot, JobFact, NodeFact)
_encoder = msgspec.json.Encoder()
_decoders: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Snapshot, JobFact, NodeFact)
}


def dumps(fact: Snapshot | JobFact | NodeFact) -> bytes:
    """The fact as one line of JSON."""
    return _encoder.encode(fact)


def loads(kind: type[Fact], line: bytes | str) -> Fact:
    """The inverse of `dumps`; ConnectorError names the field that does not fit."""
    try:
        return _decoders[kind].decode(line)
    except (msgspec.DecodeError, ValueError) as error:
        raise ConnectorError(f"not a {kind.__name__} in JSON: {error}") from error
