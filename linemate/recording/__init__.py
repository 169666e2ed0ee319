"""The stages of ``linemate record``: the event, the runs of a command, the files; ``run`` joins them."""
