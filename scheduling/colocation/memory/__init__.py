"""Memory of shared machines: the data in memory and on disk."""
