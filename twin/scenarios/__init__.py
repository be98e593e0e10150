"""Scenarios: a cluster, jobs and a scheduler, the edits that change them on the way, and forks."""
