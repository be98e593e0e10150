"""Samplers: readers of the real use of servers, one file each (base.py says what a sampler is)."""
