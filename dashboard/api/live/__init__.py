"""API of live clusters."""
