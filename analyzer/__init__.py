"""Facts from C and C++ source: the Python side of the ``linemate-facts`` tool, whose sources are in ``src``."""
