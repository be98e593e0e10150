"""Rounds of Gavel: types of machines with their throughputs, shares by linear programs, and the choice of a round."""
