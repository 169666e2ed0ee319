"""Small programs of one way to share a line each, and twins that share none, judged in several kinds of builds."""
