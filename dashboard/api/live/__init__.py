"""API of followed clusters."""
