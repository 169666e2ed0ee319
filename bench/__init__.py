"""How fast linemate is, as ratios against its peers measured in the same run.

Owns what scripts/bench prints.  Runs linemate and its peers as processes and imports neither, so that a
benchmark measures what a user gets.
"""
