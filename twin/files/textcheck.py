"""Detection of binary data, block by block, with line and column of the first invalid byte."""

from __future__ import annotations

from scheduling.model.values import ModelError

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")


def check_text(data: bytes, filename: str, line: int = 1) -> None:
    """Check that `data`, which begins at that line, is text; ModelError with the first byte that is not."""
    check = TextCheck(filename, line)
    check.feed(data)
    check.end()


class TextCheck:
    """Check for NUL and non-UTF-8 bytes, which raises `refusal`. Lines and columns count from 1, columns in bytes."""

    refusal: type[ValueError] = ModelError

    def __init__(self, filename: str, line: int = 1) -> None:
        self.filename = filename
        self.line, self.column = line, 1  # of the first byte not yet checked
        self.carry = b""  # the beginning of a character whose rest is in the next block

    def feed(self, block: bytes) -> None:
        """The next block."""
        data = self.carry + block
        if self.line == self.column == 1 and data.startswith(UTF16):
            raise self.refusal(f"{self.filename}: the text is UTF-16; save it as UTF-8")
        nul = data.find(b"\0")
        if nul >= 0:
            raise self.refusal(
                f"{self.filename}: {self._place(data, nul)}: a NUL byte: this is a binary file, not text"
            )
        self.carry = b""
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.reason != "unexpected end of data" or error.end != len(data):
                self._refuse(data, error.start)
            data, self.carry = data[: error.start], data[error.start :]
        lines = data.count(b"\n")
        self.line += lines
        self.column = len(data) - data.rfind(b"\n") if lines else self.column + len(data)

    def end(self) -> None:
        """Check after the last block."""
        if self.carry:
            self._refuse(self.carry, 0)

    def _refuse(self, data: bytes, at: int) -> None:
        raise self.refusal(
            f"{self.filename}: {self._place(data, at)}: byte 0x{data[at]:02x} is not UTF-8; save the file as UTF-8"
        )

    def _place(self, data: bytes, at: int) -> str:
        lines = data.count(b"\n", 0, at)
        column = at - data.rfind(b"\n", 0, at) if lines else self.column + at
        return f"line {self.line + lines}, column {column}"
