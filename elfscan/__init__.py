"""Binary to ``Image``: sections, symbols, typed variables and access sites.

Owns every byte of ELF and DWARF that linemate reads.  Imports ``sharing.model`` only and judges nothing.
"""
