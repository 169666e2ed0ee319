"""From lines as samples saw them to findings, joined with those of the code."""
