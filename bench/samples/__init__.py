"""Small programs of known truth, recorded and judged."""
