"""Pages, and the address that health checks ask."""
