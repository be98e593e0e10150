"""Roles and login."""
