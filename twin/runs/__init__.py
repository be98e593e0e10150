"""Runs: commands of operators, slices computed by workers, leases, clocks and holds."""
