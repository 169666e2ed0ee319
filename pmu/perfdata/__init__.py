"""The reader of perf.data files, from bytes to samples."""
