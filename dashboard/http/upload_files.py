"""Receiver of uploads: streams a file to UPLOAD_DIR, hashes it meanwhile, and stops at the limit.

The file is temporary, removed when the request ends unless the view keeps it: Django parses a form before the
permission of its sender is checked.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from rest_framework.exceptions import APIException


class TooLarge(APIException, BadRequest):
    """Error: the upload is over the limit."""

    status_code = 413


class NoRoom(APIException, BadRequest):
    """Error: the disk cannot store the upload."""

    status_code = 507


class StoredUpload(UploadedFile):
    """A file in UPLOAD_DIR that is removed when it is closed, which Django does when the request ends."""

    def __init__(self, file: Any, name: str, size: int, checksum: str) -> None:
        super().__init__(file=file, name=name, size=size)
        self.path, self.checksum = file.name, checksum

    def keep(self) -> str:
        """Random name under which the file is kept."""
        stored = secrets.token_hex(16)
        os.link(self.path, Path(settings.UPLOAD_DIR) / stored)
        return stored


class StreamToUploadDir(FileUploadHandler):
    """Upload handler of Django: one chunk after the other, never the whole file in memory."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        Path(settings.UPLOAD_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
        # the request closes it
        self.file = tempfile.NamedTemporaryFile(dir=settings.UPLOAD_DIR, prefix="part-")  # noqa: SIM115 (kept open)
        self.digest, self.size = sha256(), 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.size += len(raw_data)
        if self.size > settings.UPLOAD_LIMIT_BYTES:
            self.file.close()
            raise TooLarge(too_large())
        self.digest.update(raw_data)
        self._write(raw_data)

    def file_complete(self, file_size: int) -> StoredUpload:
        self._write(b"")
        return StoredUpload(self.file, Path(self.file_name or "upload").name, self.size, self.digest.hexdigest())

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()

    def _write(self, data: bytes) -> None:
        """Write, or flush without data; a full disk becomes one sentence."""
        try:
            self.file.write(data) if data else self.file.flush()
        except OSError as error:
            self.file.close()
            raise NoRoom(f"The server could not store the upload: {error.strerror}.") from error


def too_large() -> str:
    """Error message for an upload over the limit."""
    return (
        f"The file is larger than the limit of {settings.UPLOAD_LIMIT_BYTES // 2**20} "
        "MiB; split it or compress it with gzip."
    )


def new() -> str:
    """Name of a new, empty file in UPLOAD_DIR for parts."""
    Path(settings.UPLOAD_DIR).mkdir(mode=0o700, parents=True, exist_ok=True)
    name = secrets.token_hex(16)
    (Path(settings.UPLOAD_DIR) / name).touch(mode=0o600)
    return name


def append(name: str, offset: int, data: bytes) -> None:
    """Storage of a part at its offset; an incomplete part is overwritten."""
    try:
        with (Path(settings.UPLOAD_DIR) / name).open("r+b") as file:
            file.truncate(offset)
            file.seek(offset)
            file.write(data)
    except OSError as error:
        raise NoRoom(f"The server could not store the upload: {error.strerror}.") from error


def checksum(name: str) -> str:
    """SHA-256 of a whole file."""
    with (Path(settings.UPLOAD_DIR) / name).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
