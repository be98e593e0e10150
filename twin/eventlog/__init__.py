"""The event log of a run: written in batches, folded into a state, sent as frames."""
