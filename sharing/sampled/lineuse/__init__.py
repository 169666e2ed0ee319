"""Memory to lines: who used which bytes of a line, at the same time or not, and at whose cost."""
