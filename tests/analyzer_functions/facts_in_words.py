"""Facts about function bodies in words, and expectations in comments of C and C++ files in the same words.

Owns the grammar.  An expectation is a comment ``// kind what [details]; kind what ...`` at the end of a line:

    load counter                                  a static variable
    store slots[].count stride 16 loop 1          at an index that is not constant
    rmw p0->a under {&p->lock}                    behind the first parameter (``this`` is p0 of a method)
    load obj->next                                in a record of unknown origin
    rmw hits order relaxed                        atomic
    call f args (var slots+16, param 0+8, const 3, fn g, record obj+0, in obj+0, given number, loaded obj.f, called 0)
    start worker by std::thread loop 1
    alloc obj by malloc guarantee 64

Details that are not written are what they are without: no lock, no loop, not atomic, no flag.  A file is strict both
ways for accesses, and for the kinds that its line ``// kinds: ...`` names.  ``// args: ...`` lines are variants of
flags; each is a run of its own.
"""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elfscan.tools import tool_path
from sharing.model import LinemateError

ACCESS_KINDS = {1: "load", 2: "store", 3: "rmw", 4: "address"}
ORDERS = ("plain", "relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
FLAGS = ((2, "volatile"), (4, "bitfield"))
ALL_KINDS = (*ACCESS_KINDS.values(), "call", "start", "alloc", "taken", "lock", "unlock", "init", "trylock")
LOCK_EFFECTS = {1: "lock", 2: "unlock", 3: "init", 4: "trylock", 5: "wait", 6: "timedwait"}
REPOSITORY = Path(__file__).resolve().parents[2]


def tool() -> Path | None:
    """The tool of this checkout, None where it is not built."""
    try:
        return tool_path("linemate-facts")
    except LinemateError:
        return None


@dataclass(frozen=True)
class Unit:
    """One unit's document, with functions and records by their readable names."""

    document: dict[str, Any]

    @property
    def functions(self) -> dict[str, dict[str, Any]]:
        return {facts["name"]: facts for _identity, facts in self.document["functions"]}

    def symbol(self, index: int) -> str:
        return _short(self.document["symbols"][index]) if index >= 0 else "?"

    def record(self, index: int) -> dict[str, Any]:
        record: dict[str, Any] = self.document["records"][index][1]
        return record

    def member(self, record: int, offset: int) -> str:
        """``.a.b`` of the byte offset in a record, ``+n`` for what has no name."""
        if record < 0:
            return f"+{offset}" if offset else ""
        bits, members = self.record(record)["bits"], self.record(record)["members"]
        if bits & 16:  # what a library's type is made of is its own business
            members = []
        for member in members if bits & 1 else reversed(members):  # of a union the first
            name, bits, tree, _size, is_base = member[:5]
            if bits // 8 > offset or offset >= bits // 8 + max(tree[2], 1):
                continue
            inner = self.in_type(tree, offset - bits // 8)
            return inner if is_base or not name else f".{name}{inner}"
        return f"+{offset}" if offset else ""

    def in_type(self, tree: list[Any], offset: int) -> str:
        kind, _name, _size, _align = tree[:4]
        if kind in (4, 5, 6):
            index = tree[5] if len(tree) > 5 else -1
            return self.member(index, offset)
        inner = tree[4] if len(tree) > 4 else None
        if kind == 7 and inner:
            step = inner[2] or 1
            return f"[{offset // step}]{self.in_type(inner, offset % step)}"
        if kind in (8, 9, 10, 11, 15) and inner:
            return self.in_type(inner, offset)
        return f"+{offset}" if offset else ""


def _short(identity: str) -> str:
    return identity.split("@/")[0]


def read_unit(source: Path, flags: list[str], *options: str) -> Unit:
    """Runs the tool on one file."""
    found = tool()
    assert found is not None
    command = [str(found), "--knowledge", str(REPOSITORY / "sharing" / "knowledge"), *options, str(source), "--"]
    done = subprocess.run([*command, *flags], capture_output=True, text=True, timeout=60, check=False)
    for line in done.stdout.splitlines():
        document = json.loads(line)
        if document["kind"] == "unit":
            assert not document.get("errors"), document["errors"]
            return Unit(document)
    raise AssertionError(f"no facts of {source}: {done.stdout} {done.stderr}")


def rows(flat: list[int], columns: int) -> list[list[int]]:
    return [flat[i : i + columns] for i in range(0, len(flat), columns)]


def facts_by_line(unit: Unit) -> set[tuple[int, str]]:
    """Every fact as (line, words)."""
    out: set[tuple[int, str]] = set()
    variables = {v["identity"]: v for v in unit.document["variables"]}
    for _identity, facts in unit.document["functions"]:
        names = _Words(unit, facts, variables)
        for row in rows(facts.get("accesses", []), 16):
            out.add((row[10], names.access(row)))
        for number, row in enumerate(rows(facts.get("calls", []), 8)):
            out.add((row[2], names.call(number, row)))
        for row in rows(facts.get("lock_ops", []), 9):
            lock = facts["locks"][row[0]]
            out.add((row[3], f"{LOCK_EFFECTS[row[1]]} {lock[7]}{' shared' if lock[5] else ''} row {lock[6]}"))
        for start in facts.get("starts", []):
            many = " many" if start[2] else ""
            out.add((start[4], f"start {unit.symbol(start[0])} by {start[1]}{many}{_loop(start[6])}"))
        for api, record, guarantee, _file, line, _column, by_number, *_ in facts.get("allocations", []):
            promise = f" guarantee {guarantee}" if guarantee else ""
            out.add((line, f"alloc {unit.record(record)['name']} by {api}{promise}{' number' * by_number}"))
        for taken in facts.get("taken", []):
            out.add((0, f"taken {unit.symbol(taken)}"))
    return out


def _loop(depth: int) -> str:
    return f" loop {depth}" if depth else ""


class _Words:
    def __init__(self, unit: Unit, facts: dict[str, Any], variables: dict[str, Any]) -> None:
        self.unit, self.facts, self.variables = unit, facts, variables

    def held(self, lockset: int) -> str:
        if lockset < 0:
            return " under ?"
        locks = self.facts.get("locks", [])
        names = sorted(
            locks[i][7] + (" shared" if locks[i][5] else "") for i in self.facts.get("locksets", [[]])[lockset]
        )
        return f" under {{{', '.join(names)}}}" if names else ""

    def variable(self, symbol: int, offset: int, size: int, indexed: bool) -> str:
        identity = self.unit.document["symbols"][symbol]
        variable = self.variables.get(identity)
        if variable is None:
            return _short(identity) + (f"+{offset}" if offset else "")
        tree = variable["type"]
        while tree[0] in (8, 9, 10, 11, 15) and len(tree) > 4 and tree[4]:
            tree = tree[4]
        inside = self.unit.in_type(tree, offset) if offset or size != variable["size"] else ""
        if indexed:
            inside = re.sub(r"\[\d+\]", "[]", inside, count=1)
        return str(variable["name"]) + inside

    def pointed(self, record: int, offset: int, size: int) -> str:
        if record < 0 or (offset == 0 and size == self.unit.record(record)["size"]):
            return f"*+{offset}" if offset else "*"
        return self.unit.member(record, offset).replace(".", "->", 1)

    def access(self, row: list[int]) -> str:
        base, number, record, offset, size, kind, order, flags, stride = row[:9]
        if base == 1:
            what = self.variable(number, offset, size, bool(flags & 1))
        elif base == 2:
            what = f"p{number}" + self.pointed(record, offset, size)
        else:
            what = self.unit.record(record)["name"] + self.pointed(record, offset, size)
        words = f"{ACCESS_KINDS[kind]} {what}"
        words += f" stride {stride}" if flags & 1 else ""
        words += f" order {ORDERS[order]}" if order else ""
        words += "".join(f" {name}" for bit, name in FLAGS if flags & bit)
        return words + _loop(row[12]) + self.held(row[15])

    def argument(self, kind: int, value: int, place: str) -> str:
        if kind in (1, 4):
            name = self.unit.symbol(value)
            return f"var {name}{place}" if kind == 1 else f"fn {name}"
        if kind == 6:
            return "given number"
        if kind in (5, 8):
            return f"{'record' if kind == 5 else 'in'} {self.unit.record(value)['name']}{place}"
        if kind == 10:
            return f"loaded {self.unit.document['slots'][value].partition('@')[0]}"
        return {2: f"param {value}{place}", 11: f"called {value}"}.get(kind, f"const {value}")

    def call(self, number: int, row: list[int]) -> str:
        args = []
        for call, _arg, kind, value, offset, stride in rows(self.facts.get("args", []), 6):
            if call != number:
                continue
            place = f"+{offset}" + (f" stride {stride}" if stride else "")
            args.append(self.argument(kind, value, place))
        words = f"call {self.unit.symbol(row[0])}" + (f" args ({', '.join(args)})" if args else "")
        return words + _loop(row[4]) + self.held(row[7])


def expectations(text: str) -> set[tuple[int, str]]:
    """What the comments of a file expect, as (line, words); ``taken`` has no line."""
    out: set[tuple[int, str]] = set()
    for number, line in enumerate(text.splitlines(), 1):
        _code, found, comment = line.partition("// ")
        if not found:
            continue
        for part in comment.split(";"):
            words = " ".join(part.split())
            kind = words.partition(" ")[0]
            if kind in ALL_KINDS:
                out.add((0 if kind == "taken" else number, words))
    return out


def directives(text: str, name: str) -> list[list[str]]:
    return [found.split() for found in re.findall(rf"^// {name}:(.*)$", text, re.MULTILINE)]


def disagreements(source: Path, flags: list[str]) -> list[str]:
    """Expected and not found, or found and not expected, one line each."""
    text = source.read_text()
    kinds = {*ACCESS_KINDS.values(), *(k for line in directives(text, "kinds") for k in line)}
    expected = {e for e in expectations(text) if e[1].partition(" ")[0] in kinds}
    found = {f for f in facts_by_line(read_unit(source, flags)) if f[1].partition(" ")[0] in kinds}
    out = [f"{source.name}:{line}: missing: {words}" for line, words in sorted(expected - found)]
    return out + [f"{source.name}:{line}: unexpected: {words}" for line, words in sorted(found - expected)]
