"""Texts of a test as the files of an upload."""

import io
from types import ModuleType

from twin.traces.importing.drafts import Read, ReadOptions, Source


def read_texts(module: ModuleType, *texts: str | bytes, seed: int = 0, slot_ms: int = 300_000) -> Read:
    """What a format's reader makes of files named 1.txt, 2.txt, ..."""
    data = [text.encode() if isinstance(text, str) else text for text in texts]
    sources = [Source(f"{number}.txt", io.BytesIO(content), len(content)) for number, content in enumerate(data, 1)]
    return module.read(sources, ReadOptions(seed, slot_ms))


def listed(read: Read) -> list[tuple[str, int, str]]:
    """(file, line, reason) of each row left out."""
    return [(row["file"], row["line"], row["reason"]) for row in read.skipped.listed]


def is_accounted(read: Read) -> bool:
    """Whether every row is a job, merged into one, or left out."""
    return read.rows == len(read.drafts) + read.merged + len(read.skipped)


def first_bytes(path, size: int = 64 * 1024) -> bytes:
    """The beginning of a file, unpacked where it is gzipped."""
    import gzip

    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
        return stream.read(size)
