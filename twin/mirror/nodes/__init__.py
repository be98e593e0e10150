"""Nodes of a mirrored cluster: their states, their sites, and the reservations of them."""
