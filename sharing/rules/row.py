"""What all rules have in common: a row of the registry with an identity and a page.

Owns neither patterns nor what a kind of rule looks at: ``line.base``, ``declaration.base`` and ``sampled.base`` do.
"""

from __future__ import annotations

from dataclasses import dataclass

from sharing.model.finding import Severity
from sharing.model.rule import RuleInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``page`` is the docstring of the rule's module, ``severity`` what a finding has before the evidence moves it.

    ``starts_line``: what a finding is about has to start on a line, which padding around it does not bring about.
    ``among_objects``: what meets are objects of one type that follow each other, which room between them parts.
    """

    id: str
    name: str
    summary: str
    severity: Severity
    page: str
    starts_line: bool = False
    among_objects: bool = False

    def info(self) -> RuleInfo:
        return RuleInfo(self.id, self.name, self.summary, self.page, self.severity)
