"""Estimates of the times of jobs, from profiling."""
