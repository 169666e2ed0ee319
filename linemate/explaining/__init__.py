"""The stages of ``linemate explain``: two builds read, their profiles and tables, one comparison."""
