"""Values of the scheduling core: jobs, servers, placements and events, what a completion is worth, and how long jobs train."""
