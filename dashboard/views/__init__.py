"""Pages: each fetches what its template needs first; the rest comes from the API."""
