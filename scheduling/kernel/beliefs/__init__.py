"""Runs in which schedulers know only a believed run time of each job (docs/decisions/0021)."""
