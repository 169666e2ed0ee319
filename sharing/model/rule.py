"""What a reporter may know of a rule: its identity and its page.  Rules themselves live in ``sharing.rules``."""

from __future__ import annotations

import msgspec

from sharing.model.finding import Severity


class RuleInfo(msgspec.Struct, frozen=True):
    """One row of the rule registry.

    ``id`` is stable and appears in findings, ``name`` is for people, ``summary`` is one sentence without markup,
    ``help_markdown`` the whole page, ``severity`` the level a finding has before the evidence moves it.
    """

    id: str
    name: str
    summary: str
    help_markdown: str
    severity: Severity
