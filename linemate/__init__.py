"""The command line and the pipeline: the one package that joins the others.

This file owns the version and imports nothing, so that asking for it stays instant.
"""

__version__ = "0.1.0"
