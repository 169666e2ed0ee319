"""What a series of revisions says: where its level steps, and which change of layout came with the step.

Owns the series, the test, and the join with layouts.  Builds, files and repositories are ``linemate.history.run``'s.
"""
