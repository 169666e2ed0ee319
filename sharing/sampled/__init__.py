"""Samples joined with what a binary is made of: placed on bytes, gathered into lines, judged.

Owns nothing itself: each module states its part.
"""
