"""Each library's rows, on its own declarations: what source and an object file show of every call in ``stubs/``.

A line of a stub ends in what it does, ``lock ROW``, ``try ROW``, ``start FUNCTION`` and so on, or in ``nothing`` for a
near miss; ``source only`` where the code of an object file has it inlined or hides it behind a class.  An object file
has no word for the difference of ``lock``, ``try``, ``wait``, ``timedwait`` and ``shared``; a guard's end has no lock
among its arguments there.
"""

from __future__ import annotations

import functools
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from elfscan.debug.demangle import demangle
from elfscan.image import read_images
from sharing.knowledge import Knowledge, default_knowledge
from sharing.model.facts import CALL_COLUMNS
from sharing.model.image import ArgKind, Image
from sharing.static import callbacks, flow
from sharing.static.callees import function_at, function_name, names_of_callees
from tests.analyzer_functions.facts_in_words import read_unit, rows, tool
from tests.cpp import compiler

STUBS = sorted(p for p in (Path(__file__).parent / "stubs").iterdir() if p.suffix in (".c", ".cpp"))
LINE = re.compile(r"^void (\w+)\(.*\} +// (.+)$", re.MULTILINE)
EFFECTS = {1: "lock", 2: "unlock", 3: "init", 4: "try", 5: "wait", 6: "timedwait"}
IN_SOURCE = {"guard": {"lock", "unlock"}, "deferred": {"unlock"}}
Operations = dict[str, set[str]]


def expectations(stub: Path) -> dict[str, list[str]]:
    return {name: [w.strip() for w in words.split(",")] for name, words in LINE.findall(stub.read_text())}


def arguments(stub: Path) -> list[str]:
    return next((a.split() for a in re.findall(r"^// args: (.*)$", stub.read_text(), re.MULTILINE)), [])


@functools.cache
def in_source(stub: Path) -> Operations:
    """Lock operations and starts of callable objects, by function."""
    unit, knowledge = read_unit(stub, arguments(stub)), default_knowledge()
    out: Operations = {}
    for identity, facts in unit.document["functions"]:
        name = _own(identity)
        said = out.setdefault(name, set())
        for row in rows(facts.get("lock_ops", []), 9):
            lock = facts["locks"][row[0]]
            said.add(f"{EFFECTS[row[1]]}{' shared' if lock[5] else ''} {lock[6]}")
        for callee, *_ in rows(facts.get("calls", []), len(CALL_COLUMNS)):
            called = unit.symbol(callee) if callee >= 0 else ""
            if knowledge.barrier(called) is not None:  # a call as others: what it parts is told later
                said |= {f"{effect} {knowledge.locks[row].name}" for _, row, effect in knowledge.lock_calls(called)}
            if knowledge.waits_for_result(called):
                said.add("result")
        for start in facts.get("starts", []):
            shown = demangle([unit.symbol(start[0])])[0]
            entry = "{lambda}" if "operator()" in shown else shown.partition("(")[0]
            many = " many" if start[2] else ""
            said.add(f"start {entry}{many}")
    return out


@functools.cache
def in_object(stub: Path, folder: Path) -> Operations:
    """The same and all starts, joins and callbacks, from the machine code."""
    made = folder / f"{stub.stem}.o"
    # Without inlining: what a library has in its headers is called here as what it exports.
    flags = [*arguments(stub), "-c", "-O1", "-fno-inline", "-w"]
    subprocess.run([compiler("g++" if stub.suffix == ".cpp" else "gcc"), *flags, "-o", made, stub], check=True)
    image = next(read_images(str(made)))
    knowledge = default_knowledge()
    out: Operations = {}

    def say(function: int, what: str) -> None:
        out.setdefault(_own(function_name(image, function)), set()).add(what)

    for event in flow.lock_events(image, knowledge):
        effect = {flow.LOCK: "lock", flow.UNLOCK: "unlock", flow.INIT: "init"}[int(event["effect"])]
        say(int(event["function"]), f"{effect} {knowledge.locks[event['row']].name}")
    for call, name in zip(image.calls, names_of_callees(image, image.calls["callee"]), strict=True):
        if knowledge.joins_thread(name):
            say(int(call["function"]), "join")
    _say_handed(image, knowledge, say)
    return out


def _say_handed(image: Image, knowledge: Knowledge, say: object) -> None:
    assert callable(say)
    names = names_of_callees(image, image.args["callee"])
    targets = function_at(image, image.args["value"].astype(np.uint64))
    for arg, name, target in zip(image.args, names, targets.tolist(), strict=True):
        start = knowledge.thread_start(name)
        is_entry = start is not None and start.entry_argument == arg["arg"]
        if arg["kind"] == ArgKind.ADDRESS and target >= 0 and (is_entry or knowledge.takes_entry(name)):
            many = " many" if start is not None and start.many else ""
            say(int(arg["function"]), f"start {_own(function_name(image, target))}{many}")
    for at, row, function in callbacks.handed_over(image, knowledge):
        say(int(image.args[at]["function"]), f"{row.thread} {_own(function_name(image, function))}")


def _own(symbol: str) -> str:
    """``work`` of ``_Z4workv``; what is called otherwise stays."""
    found = re.match(r"_ZL?(\d+)", symbol)
    return symbol[found.end() : found.end() + int(found[1])] if found else symbol


def _in_source(words: list[str], stub: Path) -> set[str]:
    """In C a thread starts by a call with a function's address, which is no fact of its own."""
    out: set[str] = set()
    for word in words:
        kind, _, rest = word.partition(" ")
        if kind in IN_SOURCE:
            out |= {f"{effect} {rest}" for effect in IN_SOURCE[kind]}
        elif kind in EFFECTS.values() or (kind == "start" and stub.suffix == ".cpp"):
            out.add(f"{kind} {rest}")
        elif kind == "result":
            out.add(kind)
    return out


def _in_object(words: list[str]) -> set[str]:
    out: set[str] = set()
    for word in words:
        kind, _, rest = word.partition(" ")
        if kind in ("lock", "try", "wait", "timedwait", "guard"):
            out.add(f"lock {rest.removeprefix('shared ')}")
        elif kind == "unlock":
            out.add(f"unlock {rest.removeprefix('shared ')}")
        elif kind not in ("nothing", "deferred"):
            out.add(word)
    return out


@pytest.mark.parametrize("stub", STUBS, ids=lambda p: p.name)
def test_source_shows_what_each_line_says(stub: Path) -> None:
    if tool() is None:
        pytest.skip("linemate-facts is not built")
    said, expected = in_source(stub), expectations(stub)
    assert {n: said.get(n, set()) for n in expected} == {n: _in_source(words, stub) for n, words in expected.items()}


@pytest.mark.parametrize("stub", STUBS, ids=lambda p: p.name)
def test_an_object_file_shows_what_each_line_says(stub: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    said = in_object(stub, tmp_path_factory.mktemp("stubs"))
    expected = {n: words for n, words in expectations(stub).items() if "source only" not in words}
    assert {n: said.get(n, set()) for n in expected} == {n: _in_object(words) for n, words in expected.items()}


@pytest.mark.parametrize("stub", STUBS, ids=lambda p: p.name)
def test_each_library_has_a_near_miss(stub: Path) -> None:
    words = {w for line in expectations(stub).values() for w in line}
    assert words > {"nothing"}
