"""Forecasts of a live cluster: made from its mirror, stored, scored when jobs start and end, and shown."""
