"""The files of the headless interface (docs/formats.md)."""
