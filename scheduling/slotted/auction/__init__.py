"""Partial auction of Themis: winners, hidden payments, and what is left, on the servers of a slot."""
