"""Profiles in ``linemate audit``: read beside the binary, attributed, judged and joined."""
