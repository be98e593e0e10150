"""Line ends of uploaded text: every line ends with a line feed, and lines are counted."""

from __future__ import annotations

from collections.abc import Iterator


class LineEnds:
    """Conversion of CRLF to LF. A CR alone ends a line in a file without LF (old Macintosh); elsewhere it is a blank.

    count: lines of the whole text, once it has passed; the last one may lack its end.
    """

    def __init__(self) -> None:
        self.count = 0
        self.lone: bytes | None = None  # what a CR alone becomes; decided by the first block that has one

    def uniform(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """The blocks with uniform line ends."""
        held, last = b"", b"\n"
        for block in blocks:
            data, held = held + block, b""
            if data.endswith(b"\r"):  # a LF may follow
                data, held = data[:-1], b"\r"
            if data:
                data = self._plain(data)
                last = data[-1:]
                yield data
        if held:
            last = self._plain(held)
            yield last
        if last != b"\n":
            self.count += 1

    def _plain(self, data: bytes) -> bytes:
        if b"\r" in data:
            data = data.replace(b"\r\n", b"\n")
            if b"\r" in data:
                if self.lone is None:
                    self.lone = b" " if self.count or b"\n" in data else b"\n"
                data = data.replace(b"\r", self.lone)
        self.count += data.count(b"\n")
        return data
