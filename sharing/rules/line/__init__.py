"""Rules about one line of an image: which actors share it and should not."""
