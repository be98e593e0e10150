"""The mirror: a real cluster as an event log, by comparing what its connector reports with what the log says."""
