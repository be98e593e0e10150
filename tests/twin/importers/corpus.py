"""Corpus of the fuzzer: for each outcome of an import the smallest variant that led to it, in one compressed file."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

MAX_BYTES = 4_000  # of the files of a variant, to be kept
MAX_FILE = 190_000  # bytes of the compressed corpus; the largest variants are left out


class Variant(NamedTuple):
    """Damaged files, how they were read, and whether they were imported or refused."""

    format: str
    asked: str
    options: dict[str, Any]
    files: list[bytes]
    kind: str

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(map(len, self.files))


class Corpus:
    """Variants by format and signature of the outcome."""

    def __init__(self) -> None:
        self.by_outcome: dict[tuple[str, str], Variant] = {}

    def add(self, variant: Variant, signature: str) -> None:
        """The variant, unless a smaller one has the same outcome."""
        known = self.by_outcome.get((variant.format, signature))
        if variant.size <= MAX_BYTES and (known is None or (variant.size, variant.files) < (known.size, known.files)):
            self.by_outcome[variant.format, signature] = variant

    def variants(self) -> Iterator[Variant]:
        """All, in a fixed order."""
        for key in sorted(self.by_outcome):
            yield self.by_outcome[key]

    def merge(self, other: Corpus) -> None:
        """The variants of another corpus too."""
        for (_, signature), variant in other.by_outcome.items():
            self.add(variant, signature)

    @classmethod
    def read(cls, path: Path) -> Corpus:
        """The corpus of a file; an empty one where there is none."""
        found = cls()
        rows = json.loads(gzip.decompress(path.read_bytes())) if path.exists() else []
        for signature, format, asked, options, files, kind in rows:
            found.add(Variant(format, asked, options, [one.encode("latin-1") for one in files], kind), signature)
        return found

    def write(self, path: Path) -> None:
        """The same bytes for the same variants."""
        keys = sorted(self.by_outcome, key=lambda key: (self.by_outcome[key].size, key))
        while len(data := self._packed(sorted(keys))) > MAX_FILE:
            keys = keys[: len(keys) * 19 // 20]
        path.write_bytes(data)

    def _packed(self, keys: list[tuple[str, str]]) -> bytes:
        rows = [
            [key[1], one.format, one.asked, one.options, [data.decode("latin-1") for data in one.files], one.kind]
            for key in keys
            for one in [self.by_outcome[key]]
        ]
        return gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), mtime=0)
