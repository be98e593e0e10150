"""Runs that nobody simulated: what a real cluster did, as its mirror tells it."""
