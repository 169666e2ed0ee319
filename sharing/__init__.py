"""Judging: which variables share a cache line and should not.

Owns the shared types (``sharing.model``), the vocabulary (``sharing.knowledge``), the attribution of
accesses to variables, and the rules.  Knows nothing of ELF, DWARF, terminals or file formats.
"""
