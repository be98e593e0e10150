"""Own modules that a page loads, compressed: no page needs more than 300 kB besides the libraries in static/vendor."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAX_BYTES = 300_000
VENDOR = ROOT / "static" / "vendor"
SCRIPT = re.compile(r"""<script type="module" src="\{% static '([^']+)' %\}">""")
IMPORT = re.compile(r"""(?:\bfrom|^import|\bimport\()\s*'(\.[^']+)'""", re.MULTILINE)
COMMON = "js/pages/common.js"
SCRIPTS = {one for path in (ROOT / "templates").glob("*.html") for one in SCRIPT.findall(path.read_text())}


def loaded(*scripts: str) -> set[Path]:
    """The modules of these scripts, with all that they import, also later."""
    found: set[Path] = set()
    wanted = [(ROOT / "static" / script).resolve() for script in scripts]
    while wanted:
        path = wanted.pop()
        if path not in found:
            found.add(path)
            wanted += [(path.parent / name).resolve() for name in IMPORT.findall(path.read_text())]
    return found


@pytest.mark.parametrize("script", sorted(SCRIPTS - {COMMON}))
def test_own_scripts_of_a_page_stay_small(script):
    files = loaded(COMMON, script)
    own = [path for path in files if VENDOR not in path.parents]
    assert len(own) > 5
    assert sum(len(gzip.compress(path.read_bytes())) for path in own) < MAX_BYTES
