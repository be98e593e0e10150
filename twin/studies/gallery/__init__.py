"""Templates of new runs: each module has one class, which names a generated workload and what runs on it."""
