"""Processes of the twin: how they start, live, are watched and end."""
