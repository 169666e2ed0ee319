"""Fuzzing: what hostile input does to the readers.  Owns targets, their inputs and the loops; no reader of its own."""
