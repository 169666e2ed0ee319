"""The stages of ``linemate check``: facts of a build, the base revision by git, its build."""
