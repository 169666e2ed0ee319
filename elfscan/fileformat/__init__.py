"""The ELF file itself: headers, sections, symbols, archives, and a file placed in memory as a program."""
