"""One trace format per file; `sniff` says which formats fit, `read` imports. The folder is the menu."""

from twin.importers.choice import Choice
from twin.importers.drafts import ImportCancelled, ImportRefused
from twin.importers.imports import ImportResult, Unclear, formats, parse, read, sniff
from twin.importers.openfile import Upload

__all__ = ["Choice", "ImportCancelled", "ImportRefused", "ImportResult", "Unclear", "Upload", "formats", "parse", "read", "sniff"]
