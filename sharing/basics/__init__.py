"""Helpers that every room above uses: byte ranges and lines, names as shown, source paths."""
