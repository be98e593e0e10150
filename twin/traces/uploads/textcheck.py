"""The check of texts for uploads: it refuses the import."""

from __future__ import annotations

from twin.files import textcheck
from twin.files.textcheck import BOM
from twin.traces.importing.drafts import ImportRefused

__all__ = ["BOM", "TextCheck"]


class TextCheck(textcheck.TextCheck):
    """Check of uploaded text, like that of native files."""

    refusal = ImportRefused
