"""Commits of public projects that repaired sharing of lines, and what ``check`` says before and after each."""
