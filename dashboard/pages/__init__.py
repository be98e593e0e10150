"""Pages, and the endpoint of health checks."""
