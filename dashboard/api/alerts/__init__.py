"""Alerts and their rules."""
