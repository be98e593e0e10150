"""Unpacking of uploads in any supported format, within safe limits.

One or several files; plain, Parquet, gzip, zip or tar.gz, recognized by content. An archive holds files, gzipped or
not, and no archive. What comes out is copied block by block into temporary files (memory while they are small), checked
on the way: capped in bytes and in ratio to the input, so that a small file cannot fill memory or disk, and UTF-8 text
throughout.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, cast

from twin.traces.importing.drafts import ImportCancelled, ImportRefused, Source
from twin.traces.uploads import parquet
from twin.traces.uploads.line_ends import LineEnds
from twin.traces.uploads.textcheck import BOM, TextCheck

MAX_BYTES = 4 * 1024**3  # of plain text: the largest public table, instances of PAI, has 2 GB
MAX_RATIO = 100
FREE_BYTES = 1024 * 1024  # small files may be as repetitive as they like
IN_MEMORY = 2 * 1024 * 1024  # of one file's plain text; more goes to disk
MAX_FILES = 2_000  # Google's trace has 500 parts a table
MAX_DIRECTORY = 256 * 1024  # bytes of a zip's list of members
BLOCK = 1024 * 1024
TARS = (".tar", ".tar.gz", ".tgz")  # ends of names
GZIP, TAR, TAR_AT = b"\x1f\x8b", b"ustar", 257
ZIP = (b"PK\x03\x04", b"PK\x05\x06")  # signature of a member, or of the end record if there are no members
OTHERS = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!": "rar",
    b"\x28\xb5\x2f\xfd": "zstd",
}


@contextmanager
def opened(
    uploads: Sequence[Upload],
    progress: Callable[[float], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[list[Source]]:
    """The plain files of an upload in their order; ImportRefused says what is wrong with which."""
    with ExitStack() as stack:
        budget = _Budget(uploads)
        sources: list[Source] = []
        for upload in uploads:
            with upload.path.open("rb") as packed, _refusing(upload.name):
                for name, blocks in _members(packed, upload, budget):
                    if _is_litter(name):
                        continue
                    if len(sources) >= MAX_FILES:
                        raise ImportRefused(f"{upload.name}: more than {MAX_FILES:,} files; import them in parts")
                    plain = stack.enter_context(SpooledTemporaryFile(max_size=IN_MEMORY))
                    lines = LineEnds()
                    for block in lines.uniform(_checked(blocks, name)):
                        if cancelled():
                            raise ImportCancelled
                        plain.write(block)
                        progress(budget.share(packed.tell(), upload))
                    size = plain.tell()
                    plain.seek(0)
                    sources.append(Source(name, cast(IO[bytes], plain), size, lines=lines.count))
                budget.passed(upload)
        if not sources:
            raise ImportRefused(f"{uploads[0].name}: the archive has no files")
        _number(sources)
        yield sources


@dataclass(frozen=True)
class Upload:
    """Uploaded file and the name from its sender."""

    path: Path
    filename: str = ""

    @property
    def name(self) -> str:
        return one_line(self.filename or self.path.name)


class _Budget:
    """Limit of the unpacked size of all files of an upload together."""

    def __init__(self, uploads: Sequence[Upload]) -> None:
        self.sizes = {}
        for upload in uploads:
            if not upload.path.is_file():
                upload.path.stat()  # raises for a missing file
                raise ImportRefused(f"{upload.name}: not a file")
            size = upload.path.stat().st_size
            if size == 0:
                raise ImportRefused(f"{upload.name}: the file is empty")
            self.sizes[upload] = size
        self.total = sum(self.sizes.values())
        self.done = self.unpacked = 0

    def count(self, size: int, filename: str) -> None:
        self.unpacked += size
        if self.unpacked > MAX_BYTES:
            raise ImportRefused(f"{filename}: unpacks to more than {MAX_BYTES // 2**20} MiB; import it in parts")
        if self.unpacked > FREE_BYTES and self.unpacked > MAX_RATIO * self.total:
            raise ImportRefused(f"{filename}: unpacks to more than {MAX_RATIO:,} times its size; this is not allowed")

    def share(self, done_bytes: int, upload: Upload) -> float:
        return min(1.0, (self.done + min(done_bytes, self.sizes[upload])) / self.total)

    def passed(self, upload: Upload) -> None:
        self.done += self.sizes[upload]


def _number(sources: list[Source]) -> None:
    total = sum(source.size for source in sources)
    before = 0
    for source in sources:
        source.before, source.total = before, total
        before += source.size


def _is_litter(name: str) -> bool:
    """Test for files that operating systems add to archives."""
    parts = name.split("/")
    return (
        parts[0] == "__MACOSX" or parts[-1] in (".DS_Store", "Thumbs.db", "desktop.ini") or parts[-1].startswith("._")
    )


@contextmanager
def _refusing(filename: str) -> Iterator[None]:
    try:
        yield
    except (
        EOFError,
        zlib.error,
        zipfile.BadZipFile,
        tarfile.TarError,
        gzip.BadGzipFile,
        ValueError,
        RuntimeError,
    ) as error:
        if isinstance(error, ImportRefused):
            raise
        raise ImportRefused(f"{filename}: the archive is damaged or incomplete: {one_line(str(error))}") from error


def one_line(text: str) -> str:
    """Names of files and members, which are untrusted, as one printable line."""
    return "".join(c if c.isprintable() else "?" for c in text)[:200]


def _checked(blocks: Iterator[bytes], filename: str) -> Iterator[bytes]:
    """The blocks again, without the mark, when they are text."""
    check, first, blank = TextCheck(filename), True, True
    for block in blocks:
        text = block.removeprefix(BOM) if first else block
        first = False
        check.feed(text)
        blank = blank and not text.strip()
        yield text
    check.end()
    if blank:
        raise ImportRefused(f"{filename}: the file is empty")


class _Metered:
    """Counter of the bytes taken from a packed stream before they are used."""

    def __init__(self, source: IO[bytes] | _Blocks, budget: _Budget, filename: str) -> None:
        self.source, self.budget, self.filename = source, budget, filename

    def read(self, size: int) -> bytes:
        block = self.source.read(size)
        self.budget.count(len(block), self.filename)
        return block


def _members(packed: IO[bytes], upload: Upload, budget: _Budget) -> Iterator[tuple[str, Iterator[bytes]]]:
    """(name, blocks) of each file that the upload holds; the blocks are to be taken before the next file."""
    filename = upload.name
    head = packed.read(TAR_AT + len(TAR))
    packed.seek(0)
    if head.startswith(ZIP):
        yield from _members_of_zip(packed, filename, budget)
        return
    if head.startswith(parquet.MAGIC):
        yield filename, _rest(_Metered(_Blocks(upload), budget, filename))
        return
    _refuse_others(head, filename)
    if _is_tar(head, filename):
        raise ImportRefused(f"{filename}: a tar must be packed with gzip (.tar.gz)")
    if not head.startswith(GZIP):
        yield filename, _rest(_Metered(packed, budget, filename))
        return
    inner = gzip.GzipFile(fileobj=packed).read(TAR_AT + len(TAR))
    packed.seek(0)
    plain = _Metered(cast(IO[bytes], gzip.GzipFile(fileobj=packed)), budget, filename)
    if _is_tar(inner, filename):
        yield from _members_of_tar(plain, filename, budget)
        return
    _refuse_nested(inner, filename)
    yield filename.removesuffix(".gz"), _rest(plain)


def _is_tar(head: bytes, filename: str) -> bool:
    """Test of the first bytes of a file; a tar without members consists of zeros, as damaged files may."""
    return head[TAR_AT : TAR_AT + len(TAR)] == TAR or (filename.endswith(TARS) and not any(head))


class _Blocks:
    """Parquet file as a stream of CSV text."""

    def __init__(self, upload: Upload) -> None:
        self.blocks = parquet.as_csv(upload.path, upload.name)

    def read(self, size: int = -1) -> bytes:
        """The next block, of any size."""
        return next(self.blocks, b"")


def _rest(source: _Metered) -> Iterator[bytes]:
    while block := source.read(BLOCK):
        yield block


def _members_of_zip(packed: IO[bytes], filename: str, budget: _Budget) -> Iterator[tuple[str, Iterator[bytes]]]:
    _refuse_long_directory(packed, filename)
    with zipfile.ZipFile(packed) as archive:
        for info in archive.infolist():
            if info.is_dir():
                continue
            if info.flag_bits & 1:
                raise ImportRefused(f"{filename}: the zip is encrypted; upload it without a password")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ImportRefused(
                    f"{filename}: the zip uses method {info.compress_type}; only stored and deflated are supported"
                )
            with archive.open(info) as source:
                yield _unpacked(source, one_line(info.filename), budget)


def _refuse_long_directory(packed: IO[bytes], filename: str) -> None:
    """The list of members is read as a whole by the library, so its size is checked (end record, bytes 12-15)."""
    size = packed.seek(0, 2)
    packed.seek(max(0, size - 65_557))
    tail = packed.read()
    packed.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end >= 0 and int.from_bytes(tail[end + 12 : end + 16], "little") > MAX_DIRECTORY:
        count = int.from_bytes(tail[end + 10 : end + 12], "little")
        raise ImportRefused(
            f"{filename}: the archive has {count:,} files or more; at most {MAX_FILES:,} are imported at a time"
        )


def _members_of_tar(plain: _Metered, filename: str, budget: _Budget) -> Iterator[tuple[str, Iterator[bytes]]]:
    with tarfile.open(fileobj=cast(IO[bytes], plain), mode="r|") as archive:
        while (member := archive.next()) is not None:
            archive.members = []  # type: ignore[attr-defined]  # a stream: what has passed need not be remembered
            if member.isdir():
                continue
            source = archive.extractfile(member) if member.isfile() else None
            if source is None:
                raise ImportRefused(
                    f"{filename}: {one_line(member.name)} in the archive is a link or a device, not a file"
                )
            yield _unpacked(source, one_line(member.name), budget)


def _unpacked(source: IO[bytes], name: str, budget: _Budget) -> tuple[str, Iterator[bytes]]:
    """A member of an archive, which may itself be packed with gzip but be no archive."""
    first = source.read(TAR_AT + len(TAR))
    if not first.startswith(GZIP):
        _refuse_nested(first, name)
        return name, _rest(_Metered(cast(IO[bytes], _Rewound(first, source)), budget, name))
    plain = gzip.GzipFile(fileobj=cast(IO[bytes], _Rewound(first, source)))
    inner = plain.read(TAR_AT + len(TAR))
    _refuse_nested(inner, name)
    unpacked = cast(IO[bytes], _Rewound(inner, cast(IO[bytes], plain)))
    return name.removesuffix(".gz"), _rest(_Metered(unpacked, budget, name))


class _Rewound:
    """Stream whose first bytes have been read already."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        self.first, self.rest = first, rest

    def read(self, size: int = -1) -> bytes:
        if not self.first:
            return self.rest.read(size)
        if size < 0:
            size = len(self.first)
        block, self.first = self.first[:size], self.first[size:]
        return block


def _refuse_nested(head: bytes, filename: str) -> None:
    if head.startswith((GZIP, *ZIP)) or _is_tar(head, filename):
        raise ImportRefused(f"{filename}: an archive inside an archive; unpack it once")
    _refuse_others(head, filename)


def _refuse_others(head: bytes, filename: str) -> None:
    if head.startswith(parquet.MAGIC):
        raise ImportRefused(f"{filename}: a Parquet file inside an archive; unpack it and upload the file")
    for magic, name in OTHERS.items():
        if head.startswith(magic):
            raise ImportRefused(f"{filename}: {name} is not supported; use .gz, .zip, .tar.gz or plain text")
