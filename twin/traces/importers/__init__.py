"""One trace format per file; `sniff` says which formats fit, `read` imports. The folder is the menu."""

from twin.traces.importers.choice import Choice
from twin.traces.importers.drafts import ImportCancelled, ImportRefused
from twin.traces.importers.imports import ImportResult, Unclear, formats, parse, read, sniff
from twin.traces.importers.openfile import Upload
from twin.traces.importers.reading import Reading

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
]
