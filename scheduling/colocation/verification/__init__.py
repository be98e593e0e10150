"""Parts of the verifier of co-location groups."""
