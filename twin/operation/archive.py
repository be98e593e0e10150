"""Archive of a whole installation in one ZIP file; written while runs go on, restored into an empty database.

manifest.json   {format, created, migrations: [[app, name]], tables: {label: {columns, rows}}, files: {name: bytes}}
tables/LABEL    the rows as MessagePack arrays in the order of `columns`, each after its length (4 bytes, big-endian)
uploads/NAME    files of imports that are not finished
secret_key      the key of the installation, where it made its own

The rows are those of one instant. The format does not depend on the database: an archive of SQLite can be restored into
PostgreSQL.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import msgspec
import orjson
from django.conf import settings
from django.db import connection, connections, models, transaction
from django.db.migrations.recorder import MigrationRecorder

from scheduling.model.values import ModelError
from scheduling.reporting.quantities import counted
from twin.models import Run, Trace
from twin.operation import tables
from twin.operation.checks import OK, migrations

FORMAT = 1
LENGTH = 4  # bytes of the length before a row
MAX_BYTES = 16_000_000  # of rows that are inserted at a time
LEVEL = 1  # of the compression: most bytes are compressed already
OURS = ("twin", "dashboard")
KEY = "secret_key"
Report = Callable[[str], object]


def silent(line: str) -> None:
    """Report of a caller that wants none."""


class BadArchive(ModelError):
    """Error: the file is no archive that can be restored here."""


def write(path: Path, report: Report) -> dict[str, Any]:
    """Archive at `path`, which must not exist; its manifest. All of it or nothing."""
    if path.exists():
        raise ModelError(f"{path} exists; choose another name")
    _check_tables()
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with (
            open(os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600), "w+b") as file,
            ZipFile(file, "w", ZIP_DEFLATED, compresslevel=LEVEL) as archive,
        ):
            manifest = _write(archive, report)
        os.link(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
    return manifest


def _check_tables() -> None:
    """Refusal of a database that this version has not prepared."""
    if (found := migrations()).level != OK:
        raise BadArchive(f"{found.text}; {found.remedy.removeprefix('make a backup, then ')}")


def _write(archive: ZipFile, report: Report) -> dict[str, Any]:
    manifest: dict[str, Any] = {"format": FORMAT, "created": datetime.now(UTC).isoformat(), "tables": {}, "files": {}}
    with tables.snapshot() as alias:
        manifest["migrations"] = sorted([app, name] for app, name in _applied(alias) if app in OURS)
        for model in tables.kept():
            label, count = model._meta.label, 0
            with archive.open(f"tables/{label}", "w", force_zip64=True) as file:
                for row in tables.rows(model, alias):
                    packed = msgspec.msgpack.encode(row)
                    file.write(len(packed).to_bytes(LENGTH) + packed)
                    count += 1
            manifest["tables"][label] = {"columns": tables.columns(model), "rows": count}
            report(f"{label}: {counted(count, 'row')}")
        for files in Trace.objects.using(alias).values_list("files", flat=True).iterator():
            for part in files:
                if part.get("path"):
                    _add_upload(archive, part, manifest["files"])
    if (key := settings.VAR_DIR / KEY).exists():
        archive.write(key, KEY)
    archive.writestr("manifest.json", orjson.dumps(manifest))
    return manifest


def _applied(alias: str = "default") -> set[tuple[str, str]]:
    return set(MigrationRecorder(connections[alias]).applied_migrations())


def _add_upload(archive: ZipFile, part: dict[str, Any], files: dict[str, int]) -> None:
    """Received part of an uploaded file; none if it was imported meanwhile."""
    name = Path(part["path"]).name
    try:
        source = (settings.UPLOAD_DIR / name).open("rb")
    except FileNotFoundError:
        return
    with source, archive.open(f"uploads/{name}", "w", force_zip64=True) as to:
        files[name] = _copy(source, to, part["received"])


def _copy(source: IO[bytes], to: IO[bytes], most: int) -> int:
    left = most
    while left and (piece := source.read(min(left, 1 << 20))):
        to.write(piece)
        left -= len(piece)
    return most - left


def restore(path: Path, report: Report) -> dict[str, Any]:
    """Content of an archive in this empty database and UPLOAD_DIR; its manifest. All of it or nothing."""
    try:
        with ZipFile(path) as archive:
            manifest = orjson.loads(archive.read("manifest.json"))
            _check(path, manifest)
            if (broken := archive.testzip()) is not None:
                raise BadArchive(f"{path}: {broken} is damaged; use another backup")
            with transaction.atomic(), connection.constraint_checks_disabled():
                _replace_rows(path, archive, manifest, report)
            _restore_files(archive, manifest)
    except (BadZipFile, KeyError, orjson.JSONDecodeError) as error:
        raise BadArchive(f"{path} is not a backup of the twin: {error}") from error
    return manifest


def _check(path: Path, manifest: dict[str, Any]) -> None:
    if manifest.get("format") != FORMAT:
        raise BadArchive(f"{path}: format {manifest.get('format')!r} is unknown; this version reads format {FORMAT}")
    here = sorted([app, name] for app, name in _applied() if app in OURS)
    if here != manifest["migrations"]:
        newest = {app: max((name for of, name in manifest["migrations"] if of == app), default="zero") for app in OURS}
        steps = " and ".join(f"manage.py migrate {app} {name}" for app, name in newest.items())
        raise BadArchive(
            f"{path} is from another version of the database; run {steps}, restore, then run manage.py migrate"
        )
    used = [model._meta.label for model in (Run, Trace) if model._base_manager.exists()]
    if used:
        raise BadArchive(f"the database has rows already ({', '.join(used)}); restore into an empty one")


def _replace_rows(path: Path, archive: ZipFile, manifest: dict[str, Any], report: Report) -> None:
    models_here = {model._meta.label: model for model in tables.kept()}
    if unknown := manifest["tables"].keys() - models_here.keys():
        raise BadArchive(f"{path} has tables that this version does not know: {', '.join(sorted(unknown))}")
    for label in manifest["tables"]:  # what migrations or a first start have made
        rows: Any = models_here[label]._base_manager.all()
        rows._raw_delete("default")  # without reading columns that an older version of the database lacks
    for label, told in manifest["tables"].items():
        count = _insert_all(models_here[label], told["columns"], archive.open(f"tables/{label}"))
        if count != told["rows"]:
            raise BadArchive(f"{path}: {label} has {counted(count, 'row')}, but the manifest states {told['rows']:,}")
        report(f"{label}: {counted(count, 'row')}")
    tables.continue_numbers([models_here[label] for label in manifest["tables"]])


def _insert_all(model: type[models.Model], names: list[str], file: IO[bytes]) -> int:
    count, size, pending = 0, 0, []
    for packed in _packed_rows(file):
        pending.append(msgspec.msgpack.decode(packed))
        size += len(packed)
        if size > MAX_BYTES or len(pending) == tables.CHUNK:
            tables.insert(model, names, pending)
            count, size, pending = count + len(pending), 0, []
    if pending:
        tables.insert(model, names, pending)
    return count + len(pending)


def _packed_rows(file: IO[bytes]) -> Iterator[bytes]:
    while head := file.read(LENGTH):
        yield file.read(int.from_bytes(head))


def _restore_files(archive: ZipFile, manifest: dict[str, Any]) -> None:
    settings.UPLOAD_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in manifest["files"]:
        with archive.open(f"uploads/{name}") as source, (settings.UPLOAD_DIR / Path(name).name).open("wb") as to:
            shutil.copyfileobj(source, to)
    if KEY in archive.namelist():
        key = settings.VAR_DIR / KEY
        key.write_bytes(archive.read(KEY))
        key.chmod(0o600)
