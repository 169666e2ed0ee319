"""The version of linemate.  The build reads it here, too."""

__version__ = "0.1.0"
