"""Samplers: how the twin reads what servers really use, one file each (base.py says what a sampler is)."""
