"""Memory of machines that groups share: what is held in memory, what lies on disk."""
