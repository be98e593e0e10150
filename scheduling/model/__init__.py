"""Values of the scheduling core: jobs, servers, placements, events, what a completion is worth, how long jobs train."""
