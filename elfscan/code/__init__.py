"""Code: the functions of a file, and what linemate-access is asked about them."""
