"""Measurement of the speed at which this machine trains a small model, with real processes over loopback TCP."""
