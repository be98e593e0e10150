"""Column mappings of users' own tables: guessed, previewed, saved and remembered."""
