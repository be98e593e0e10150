"""Encodings, parsers, renderers, paging, throttles and files of HTTP."""
