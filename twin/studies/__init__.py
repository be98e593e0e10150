"""Studies made of runs: questions about a job, sweeps, races, the demo."""
