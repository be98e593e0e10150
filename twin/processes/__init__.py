"""Processes of the twin: start, heartbeats, supervision and shutdown."""
