"""One declarator into another form: as a member of a wrapper, and out of the statement that it shares with others.

Owns the text of a rewritten declaration.  Which form is wanted is decided by the callers.
"""

from __future__ import annotations

import re

from sharing.fix.declaration import Declarator, Statement
from sharing.fix.plan import Changes, strip
from sharing.fix.tokens import Refused
from sharing.model.facts import VariableFacts


def member_text(statement: Statement, declarator: Declarator, facts: VariableFacts, name: str) -> str:
    """The declaration as that of a member called ``name``; an array takes its size from the facts."""
    source = statement.source
    if re.search(r"\bauto\b", statement.type_text):
        raise Refused("its type is deduced: write it out first")
    before = source.text(declarator.begin, declarator.name.begin)
    after = source.text(declarator.name.end, declarator.suffix)
    array = strip(facts.type)
    if after.replace(" ", "").startswith("[]"):
        after = f"[{array.count}]{after[after.index(']') + 1 :]}"
    if not before and after.startswith("("):
        raise Refused("its declaration was not understood")
    return f"{statement.type_text} {before}{name}{after}"


def replace_declarator(changes: Changes, statement: Statement, declarator: Declarator, new: str) -> None:
    """Put the statement ``new`` in place of one declarator; the others stay in the statement that they are in."""
    source = statement.source
    if len(statement.declarators) == 1:
        changes.replace(source, statement.begin, statement.end, new)
        return
    at = statement.declarators.index(declarator)
    if at == 0:
        changes.replace(source, declarator.begin, statement.declarators[1].begin, "")
    else:
        changes.replace(source, statement.declarators[at - 1].end, declarator.end, "")
    changes.insert(source, statement.end, f"\n{source.indent(statement.begin)}{new}")
