"""Selection of co-location groups: which jobs share machines, and how many [Harmony, Section IV]."""
