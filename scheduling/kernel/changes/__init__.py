"""Changes during a run: another cluster, jobs or scheduler; new jobs and servers."""
