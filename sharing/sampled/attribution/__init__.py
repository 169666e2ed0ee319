"""Samples to memory: which bytes each sample accessed, how that is known, and why not where it is not."""
