"""Debug information: where it is, variables and types, lines of source, readable names."""
