"""Connectors: how the twin reads a real cluster, one file each (base.py says what a connector is)."""
