"""The version of linemate.  The build reads it here, too."""

__version__ = "0.1.0"
# The address of the project's pages, which SARIF names.  Whoever publishes linemate fills it in, and as Homepage
# below [project.urls] of pyproject.toml, which the packages name.
HOMEPAGE = ""
