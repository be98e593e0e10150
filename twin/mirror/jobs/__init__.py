"""Jobs of a mirror: their identity, their attempts, and what the accounting says of both."""
