"""Endpoints to which clusters post their events."""
