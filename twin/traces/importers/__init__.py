"""Trace formats, one per file; `sniff` says which formats fit, `read` imports."""

from twin.traces.importing.assignment import Unclear
from twin.traces.importing.choice import Choice
from twin.traces.importing.drafts import ImportCancelled, ImportRefused
from twin.traces.importing.formats import formats, sniff, title_of
from twin.traces.importing.imports import ImportResult, read
from twin.traces.importing.parsing import parse
from twin.traces.importing.reading import Reading
from twin.traces.uploads.openfile import Upload

__all__ = [
    "Choice",
    "ImportCancelled",
    "ImportRefused",
    "ImportResult",
    "Reading",
    "Unclear",
    "Upload",
    "formats",
    "parse",
    "read",
    "sniff",
    "title_of",
]
