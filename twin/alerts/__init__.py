"""Alerts: rules with thresholds that are checked against what is watched, and what became of their findings."""
