"""Two images compared: what differs, what that moved, and which difference explains another speed.

Owns the comparison as a library of pure functions on two images (``compare.explain`` is the table of contents) and
the statistics of measurements.  Reads no file: tables of text come in as text, images from whoever read them.
"""
