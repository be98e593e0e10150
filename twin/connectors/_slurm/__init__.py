"""Parts of the Slurm connector: calls, and one file for each kind of text that Slurm prints."""
