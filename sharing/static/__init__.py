"""What the code of one image does: threads, frequency, locks, objects, busy lines and their actors."""
