"""Values of the scheduling core: jobs, servers, placements, events, utilities, training times."""
