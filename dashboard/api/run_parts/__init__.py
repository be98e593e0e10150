"""Views of parts of a run: prices, groups, certificates, explanations."""
