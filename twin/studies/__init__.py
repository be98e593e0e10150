"""Studies with runs: previews of a job, sweeps, races, the demo."""
