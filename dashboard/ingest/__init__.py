"""Addresses to which clusters post their events."""
