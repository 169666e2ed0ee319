"""What separates line mates, found by trying: edits, the layout after them, the choice, and their words.

``paths`` says where in its variable something stands, ``editedlayout`` what the layout is after edits, ``choice`` which
edits leave nothing of a finding, ``spelling`` how a declaration is written, ``wording`` what a report says of an edit.
"""
