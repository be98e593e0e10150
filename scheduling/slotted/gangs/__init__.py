"""Gangs on slotted servers: what a job can use, and where its units have room."""
