"""Reports about a run: metrics, decision reasons and quantities as text."""
