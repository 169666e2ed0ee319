"""Pairs of builds of known difference: what ``linemate explain`` says of them, against what their maker knows."""
