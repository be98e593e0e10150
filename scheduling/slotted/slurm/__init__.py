"""Parts of the model of Slurm: its choice of nodes, the ends of running jobs, and the map of its backfilling."""
