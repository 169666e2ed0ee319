"""By what a finding is recognised in another build, another clone, or after an edit elsewhere: its id.

Owns what of the id counts.  Whoever makes a finding makes its id of rule, names and files (``sharing.judge``); it is
the same in every format and in the files that keep findings between runs.
"""

from __future__ import annotations

import re

from sharing.model import Finding

PAIR = 2  # participants that make a finding what it is; others come and go
_NUMBERED = re.compile(r"(-[0-9a-f]{10})-[0-9]+$")


def identity(finding_id: str) -> str:
    """The id without the number that tells lines of equal names apart: which of them comes first is the linker's."""
    return _NUMBERED.sub(r"\1", finding_id)


def fingerprint(finding: Finding) -> str:
    """Equal for the same variables under the same rule, wherever they lie and in whatever clone of the sources."""
    return identity(finding.id)
