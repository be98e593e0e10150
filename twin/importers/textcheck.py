"""The check of texts for uploads: it refuses the import."""

from __future__ import annotations

from twin.formats import textcheck
from twin.formats.textcheck import BOM
from twin.importers.drafts import ImportRefused

__all__ = ["BOM", "TextCheck"]


class TextCheck(textcheck.TextCheck):
    """As that of our own files."""

    refusal = ImportRefused
