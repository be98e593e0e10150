"""Column mappings of tables of one's own: guessed, previewed, saved and remembered."""
