"""What one run of linemate holds of the system: signals, child processes, temporary files, files that it replaces.

Owns that nothing of it outlives the run.  Every package uses it; it knows nothing of what they do.
"""
