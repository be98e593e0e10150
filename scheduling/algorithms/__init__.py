"""One scheduler per file; listing this folder is the menu."""
