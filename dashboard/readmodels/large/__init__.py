"""Read models of large runs."""
