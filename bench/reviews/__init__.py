"""Consecutive commits of a project through ``check --base``, as a review would run it."""
