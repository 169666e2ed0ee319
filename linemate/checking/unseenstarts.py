"""Programs that start no thread, as far as is seen, but leave functions to code that is not among their units.

Owns whether it matters that others may run these on threads: what would be found if each of them were an entry.  What
only answers, once for each call, is busy on no thread of its own; what goes round in loops of its own is.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from elfscan.debug.demangle import demangle
from linemate.auditing.image import judge_options, line_sizes
from linemate.auditing.neededlibraries import c_exports
from linemate.options import CheckOptions
from linemate.source import as_compiled
from sharing.basics.naming import readable_names
from sharing.judge.static import judge
from sharing.knowledge import Knowledge
from sharing.model.finding import Severity
from sharing.model.plural import count
from sharing.source.handedout import handed_out, overriding
from sharing.source.merge import executables
from sharing.source.program import Program


class Unseen(NamedTuple):
    """``note`` says what is known of threads; ``unknown``: it makes a difference whether there are some."""

    note: str
    unknown: bool


def unseen_starts(program: Program, options: CheckOptions, knowledge: Knowledge) -> Unseen:
    """Of a program of which no executable starts a thread that is seen."""
    known = c_exports()
    handed = {name: given for name, given in handed_out(program).items() if known and name not in known}
    derived = overriding(program)
    if not handed and not derived:
        return Unseen("no executable here starts a thread: only declarations were judged", unknown=False)
    shown = readable_names(list(handed), demangle)
    who = _who(program, {shown[name]: given for name, given in handed.items()}, derived)
    entries = {one for given in (*handed.values(), *derived.values()) for one in given}
    found = _found_if_entries(program, options, knowledge, entries)
    if not found:
        note = f"no executable here starts a thread that is seen ({who}, may): only declarations were judged"
        return Unseen(note, unknown=False)
    would = f"if it runs them on threads, {count(found, 'finding')} would be above a note"
    note = f"thread structure unknown: {who}, may start threads, and {would}; only declarations were judged"
    return Unseen(f"{note} without --assume-threads", unknown=True)


def _who(program: Program, handed: dict[str, list[str]], derived: dict[str, list[str]]) -> str:
    """In words, the first of those that are left functions, with one of these."""
    more = len(handed) + len(derived) - 1
    others = f" and {count(more, 'other')}" if more else ""
    if handed:
        name = min(handed)
        function = program.functions[handed[name][0]].facts.name
        return f"{name}, which is not in this source and is handed {function}{others}"
    name = min(derived)
    function = program.functions[derived[name][0]].facts.name
    return f"{name}, which is not in this source and has its virtual function overridden by {function}{others}"


def _found_if_entries(program: Program, options: CheckOptions, knowledge: Knowledge, entries: set[str]) -> int:
    """How many findings above a note there would be in the executable that has most, were these entries of threads."""
    most = 0
    for path, part in executables(program):
        mine = [part.functions[one].facts for one in sorted(entries) if one in part.functions]
        if not path or not mine:
            continue
        image = as_compiled(part, path, {}, knowledge)
        asked = judge_options(*line_sizes(options.line_size, image), options)
        presumed = frozenset(facts.symbol or facts.identity for facts in mine)
        how = dataclasses.replace(asked, presumed=presumed, edits=False, min_severity=Severity.LOW)
        most = max(most, len(judge(image, how, knowledge).findings))
    return most
