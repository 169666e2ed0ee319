"""Truth without opinion: real programs under callgrind, what it counted, and how linemate's estimates compare."""
