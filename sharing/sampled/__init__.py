"""Samples as evidence: placing them on memory, lines as they were used, verdicts and findings.

Owns nothing itself; ``sharing.model.attribution`` holds what the parts hand to each other.
"""
