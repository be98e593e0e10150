"""Shadows of a live cluster: its last hours, replayed by every scheduler, beside what happened."""
