"""The REST API: one file per noun; every answer to bad input is one sentence that says what would work."""
