"""Selection of groups: which jobs share machines, and how many [Harmony, Sec. IV]."""
