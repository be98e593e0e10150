"""Parts of the sampler `prometheus`: requests, queries, and what their answers mean."""
