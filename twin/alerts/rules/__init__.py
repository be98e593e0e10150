"""The rules: a file here with one named subclass of Rule is enough."""
