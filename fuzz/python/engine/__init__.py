"""What drives the targets: mutation, judging one input, coverage, shrinking.  Knows no format."""
