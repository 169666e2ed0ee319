"""Relocations: the loader's, those of object files, and the PLT stubs that use them."""
