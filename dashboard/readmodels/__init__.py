"""Read models of pages and the API: tables, summaries and payloads derived from the log."""
