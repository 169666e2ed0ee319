"""The stages of ``linemate history``: a clone, builds, a store, measurements, their table; ``run`` joins them."""
