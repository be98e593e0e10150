"""Shadows of a followed cluster: its last hours, replayed by every scheduler, beside what happened."""
