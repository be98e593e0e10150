"""Atomic output: results are written beside their final place, and moved there when they are complete.

Unfinished results are listed in `UNFINISHED`, so that a signal can remove them at any time: an exception that a signal
handler raises may be swallowed by the C code it interrupts (imports, comparisons), and the command would run on.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO

from scheduling.model.values import ModelError
from twin.files.outputs import writing

UNFINISHED: list[Callable[[], None]] = []  # each removes one incomplete result; a second call has no effect


def remove_unfinished() -> None:
    """Removal of all unfinished results; for signal handlers, after which the process must end."""
    for undo in reversed(UNFINISHED):
        undo()


@contextmanager
def atomic_folder(out: Path, names: Collection[str], inputs: Sequence[Path] = ()) -> Iterator[Path]:
    """A new folder to write into; when the block ends well it is `out`, and nothing of it is left when it does not.

    names: the files that the command may write. Only a folder of such files is replaced, and never the folder of the
    inputs.
    """
    _check(out, names, inputs)
    place = out.resolve()
    parents = [parent for parent in place.parents if not parent.exists()]
    beside = place.with_name(f".{place.name[:100]}.{secrets.token_hex(4)}.part")
    undo = partial(_undo_folder, place, beside, parents)
    UNFINISHED.append(undo)
    try:
        beside.mkdir(parents=True)
        yield beside
        _replace(place, beside)
    except OSError as error:
        if error.filename is not None and Path(error.filename).is_relative_to(beside):
            error.filename = str(out / Path(error.filename).relative_to(beside))
        raise
    finally:
        undo()
        UNFINISHED.remove(undo)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, opened at once; when the block ends well it is `path`."""
    if path.is_dir():
        raise ModelError(f"{path} is a folder; choose a file")
    beside = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    undo = partial(beside.unlink, missing_ok=True)
    UNFINISHED.append(undo)
    try:
        with writing(beside) as file:
            yield file
        beside.replace(path)
    except OSError as error:
        if error.filename == str(beside):
            error.filename = str(path)
        raise
    finally:
        undo()
        UNFINISHED.remove(undo)


def _check(out: Path, names: Collection[str], inputs: Sequence[Path]) -> None:
    """Check that no other data in the folder would be lost."""
    place = out.resolve()
    for path in inputs:
        if path.resolve().parent == place:
            raise ModelError(f"--out {out} is the folder of the input {path.name}; choose another one")
    if place == Path.cwd() or place in Path.cwd().parents:
        raise ModelError(f"--out {out} is or contains the working directory; choose a new folder")
    if place.exists() and not place.is_dir():
        raise ModelError(f"--out {out} is a file; choose a folder")
    others = sorted(path.name for path in place.iterdir() if path.name not in names) if place.is_dir() else []
    if others:
        raise ModelError(
            f"--out {out} contains {others[0]!r}, which is not an output of this command; choose a new folder"
        )


def _replace(place: Path, beside: Path) -> None:
    """Move of `beside` into its place; the earlier content is removed after it has succeeded."""
    if place.exists():
        shutil.copymode(place, beside)
        place.rename(_earlier(beside))
    beside.rename(place)


def _undo_folder(place: Path, beside: Path, parents: Sequence[Path]) -> None:
    earlier = _earlier(beside)
    if earlier.exists() and not place.exists():
        earlier.rename(place)
    for left in (earlier, beside):
        shutil.rmtree(left, ignore_errors=True)
    for parent in parents:  # those that this command made, and that nobody uses
        with suppress(OSError):
            parent.rmdir()


def _earlier(beside: Path) -> Path:
    return beside.with_suffix(".old")
