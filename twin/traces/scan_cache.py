"""Cache of the scan of an upload, beside its files: an import with the same options does not read them again.

The file is a pickle, signed with the secret key; files without a valid signature are not loaded.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from twin.models import Trace
from twin.traces.importing.parsing import Part
from twin.traces.importing.reading import Reading

log = logging.getLogger(__name__)
SUFFIX, UNFINISHED = ".look", ".new"  # the name that stored scans have
MAX_BYTES = 1_000_000_000  # of a result that is kept; a larger one is read again
_DIGEST = hashlib.sha256


def keep(trace: Trace, parts: Sequence[Part]) -> None:
    """Storage of the scanned content; a full disk costs only the time to read it again."""
    path = _path(trace)
    payload = pickle.dumps((_options(trace), list(parts)), protocol=pickle.HIGHEST_PROTOCOL)
    if len(payload) > MAX_BYTES:
        return
    try:
        unfinished = path.with_suffix(UNFINISHED)
        unfinished.write_bytes(_signature(payload) + payload)
        unfinished.replace(path)
    except OSError as error:
        log.warning("the scan of trace %s is not kept: %s", trace.pk, error)


def kept(trace: Trace) -> list[Part] | None:
    """Stored content of a scan with the same options; None without one."""
    try:
        data = _path(trace).read_bytes()
    except OSError:
        return None
    size = _DIGEST().digest_size
    signature, payload = data[:size], data[size:]
    if not hmac.compare_digest(signature, _signature(payload)):
        log.warning("the scan of trace %s was not written by the twin; its files are read again", trace.pk)
        return None
    options, parts = pickle.loads(payload)
    return parts if options == _options(trace) else None


def drop(path: str) -> None:
    """Removal of the content stored beside the first file of an upload."""
    for suffix in (SUFFIX, UNFINISHED):
        (Path(settings.UPLOAD_DIR) / f"{path}{suffix}").unlink(missing_ok=True)


def _path(trace: Trace) -> Path:
    return Path(settings.UPLOAD_DIR) / f"{trace.files[0]['path']}{SUFFIX}"


def _options(trace: Trace) -> dict[str, Any]:
    """Options on which the reading of the files depends."""
    given = {name: trace.options.get(name) for name in ("mapping", "slot_ms")}
    return {
        **given,
        **Reading.of(trace.options).plain(),
        "files": [(file["path"], file["size"]) for file in trace.files],
        "format": trace.format,
        "seed": trace.seed,
    }


def _signature(payload: bytes) -> bytes:
    return hmac.new(settings.SECRET_KEY.encode(), payload, _DIGEST).digest()
