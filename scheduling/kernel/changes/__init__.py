"""Changes of a run while it goes on: other cluster, jobs or scheduler; new jobs and servers."""
