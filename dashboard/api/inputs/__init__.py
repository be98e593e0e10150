"""Inputs of runs: traces, clusters, workloads, schedulers and scenarios."""
