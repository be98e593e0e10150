"""OpenAPI description of the API: what the views do not declare themselves."""
