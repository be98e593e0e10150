"""The import itself: detection of the format, selection of jobs, report; the formats are in importers/."""
