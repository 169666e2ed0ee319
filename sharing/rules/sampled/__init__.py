"""Rules about one line as a profile saw it."""
