"""What limits the start of jobs on a Slurm cluster beside nodes: partitions, licences, and what jobs ask for."""
