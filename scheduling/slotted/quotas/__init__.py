"""Quotas of queues that lend to each other."""
