"""What an editor shows of a check: diagnostics, the lines of a variable, and edits.

``analysis`` is the check and where its parts stand in files; ``server`` speaks the language server protocol.
"""
