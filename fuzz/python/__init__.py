"""Targets for the readers that are written in Python, one a module.  ``targets`` is their table.

Owns which reader a target calls and with what inputs it starts.  The loops are ``engine``'s.
"""
