"""Prices of resources: the book, the estimate of their bounds, their events, and the schedulers that use them."""
