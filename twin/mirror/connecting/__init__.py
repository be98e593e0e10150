"""Connections to clusters as operators make them: stored, tested within bounds, and their condition in words."""
