"""Parts of the verifier of typed workers."""
