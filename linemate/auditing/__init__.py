"""What ``audit`` does with each image of a file, and with many of them at once."""
