"""Parts that several formats share."""
