"""Schedulers, one per file; the registry finds them in this folder."""
