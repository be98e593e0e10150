"""Traces: importers, synthesis of missing fields, and the import task."""
