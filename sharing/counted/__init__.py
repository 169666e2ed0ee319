"""Exact executions as evidence: who used which bytes how often, by thread, and what that says of each finding."""
