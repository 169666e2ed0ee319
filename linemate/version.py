"""The version of linemate.  The build reads it here, too."""

__version__ = "0.1.0"
# The address of the project's pages, which SARIF and packages name; whoever publishes linemate fills it in.
HOMEPAGE = ""
