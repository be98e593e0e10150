"""Operation of an installation: checks, backups, retention."""
