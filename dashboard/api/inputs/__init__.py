"""What runs are made of: traces, clusters, workloads, schedulers and scenarios."""
