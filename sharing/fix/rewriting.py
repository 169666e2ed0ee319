"""One declarator into another form: as a member of a wrapper, and out of the statement that it shares with others.

Owns the text of a rewritten declaration.  Which form is wanted is decided by the callers.
"""

from __future__ import annotations

import re

from sharing.fix.declaration import Declarator, Statement
from sharing.fix.plan import Changes, Part
from sharing.fix.tokens import Refused
from sharing.model.facts import VariableFacts
from sharing.source.declarations import stripped

_ALIGNMENT = re.compile(r"\b(?:alignas|_Alignas)\s*\(\s*(\d{1,6})\s*\)\s*")


def member_text(statement: Statement, declarator: Declarator, facts: VariableFacts, name: str, line_size: int) -> str:
    """The declaration as that of a member called ``name``; an array takes its size from the facts."""
    source = statement.source
    if any(token.text == b"{" for token in statement.specifiers):
        raise Refused("it is declared together with its type")
    if re.search(r"\bauto\b", statement.type_text):
        raise Refused("its type is deduced: write it out first")
    before = source.text(declarator.begin, declarator.scope)
    after = source.text(declarator.name.end, declarator.suffix)
    array = stripped(facts.type)
    if after.replace(" ", "").startswith("[]"):
        after = f"[{array.count}]{after[after.index(']') + 1 :]}"
    if not before and after.startswith("("):
        raise Refused("its declaration was not understood")
    return f"{unaligned(statement.type_text, line_size)} {before}{name}{after}"


def unaligned(text: str, line_size: int) -> str:
    """Specifiers without an alignment that the wrapper's makes superfluous."""
    return _ALIGNMENT.sub(lambda found: "" if int(found[1]) <= line_size else found[0], text).strip()


def replace_declarator(changes: Changes, statement: Statement, declarator: Declarator, new: str) -> None:
    """Put the statement ``new`` in place of one declarator; those before and behind it keep their order."""
    source, all_of = statement.source, statement.declarators
    newline = f"\n{source.indent(statement.begin)}"
    defined = f"{statement.defines};{newline}" if statement.defines else ""
    if len(all_of) == 1:
        changes.replace(source, statement.begin, statement.end, f"{defined}{new}")
        return
    at = all_of.index(declarator)
    begin, before = (statement.begin, defined) if at == 0 else (all_of[at - 1].end, f";{newline}")
    last = at == len(all_of) - 1
    end, behind = (statement.end, "") if last else (all_of[at + 1].begin, f"{newline}{statement.again} ")
    edit = changes.replace(source, begin, end, f"{before}{new}{behind}")
    changes.parts.append(Part(edit, statement.begin, at, at, len(behind)))
