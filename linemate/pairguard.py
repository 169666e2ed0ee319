"""A pair of variables that must not share a line, and the rule that a meeting breaks, as values.

Owns nothing else; reading, writing and enforcing is ``linemate.guardfile``'s.
"""

from __future__ import annotations

import msgspec

from sharing.model.finding import GUARDED, Severity
from sharing.model.rule import RuleInfo

RULE = RuleInfo(
    id=GUARDED,
    name="A guarded pair shares a line",
    summary="Two variables that a guard file keeps apart share a line.",
    help_markdown="A file of `linemate guard` says that these two variables must not share a cache line, and in this "
    "binary they do: an edit took the padding away, or moved them. Restore what kept them apart, or take the pair out "
    "of the file.",
    severity=Severity.HIGH,
)


class PairGuard(msgspec.Struct, frozen=True):
    """Two variables or members, by the names that ``linemate lines`` takes, and the line size that counts in bytes.

    ``why`` is for people: the finding that the pair once was.
    """

    names: tuple[str, str]
    line_size: int = 64
    why: str = ""
