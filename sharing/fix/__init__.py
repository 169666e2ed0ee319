"""Edits that separate: from a finding and the facts to replacements in source files, and to symbol orders.

Pure: the content of files comes from the caller, nothing is written.  ``attach_edits`` and ``plan_finding``
(``edits``) are the way in; ``variables``, ``records`` and ``wrapper`` hold the kinds of edits, ``ordering`` the
remedy for linkers.
"""
