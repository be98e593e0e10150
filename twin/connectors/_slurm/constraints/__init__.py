"""Constraints on the start of jobs on a Slurm cluster beside nodes: partitions, licences, and requests of jobs."""
