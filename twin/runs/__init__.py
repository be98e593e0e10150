"""Runs: what operators command, the slices that workers compute, leases, clocks and holds."""
