"""Push: events that a cluster posts about itself, from the body of a request to rows and back to facts."""
