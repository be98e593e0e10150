"""Uploaded files as lines, cells and tables."""
