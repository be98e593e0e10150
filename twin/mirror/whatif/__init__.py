"""What-if from a real cluster: the cut of a mirrored run at a moment, as an ordinary scenario."""
