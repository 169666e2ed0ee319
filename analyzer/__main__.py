"""``python -m analyzer FILE``: print a stream of facts, so that bug reports arrive with evidence.

Owns plain text of what ``read_facts`` gives; hostile names are escaped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from analyzer.stream import read_facts
from sharing.model import LinemateError
from sharing.model.facts import (
    ACCESS_COLUMNS,
    CALL_COLUMNS,
    LOCK_OP_COLUMNS,
    FactsEnd,
    FactsFailure,
    FactsHeader,
    FactsLine,
    FactsNote,
    FunctionFacts,
    RecordFacts,
    UnitFacts,
    VariableFacts,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the dumper.  Returns the exit code: 0, or 2 when the stream cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m analyzer", description="Show a stream of facts.")
    parser.add_argument("file", metavar="FILE", type=Path, help="what linemate-facts wrote")
    options = parser.parse_args(arguments)
    try:
        for line in read_facts(options.file):
            for text in _text(line):
                print(printable(text))
    except LinemateError as error:
        print(f"analyzer: {printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return 0


def printable(text: str) -> str:
    """Without control characters, which names in a hostile source may hold."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def _text(line: FactsLine) -> Iterator[str]:
    match line:
        case FactsHeader():
            yield f"{line.schema}, tool {line.tool}, clang {line.clang}"
        case FactsFailure():
            yield f"failed: {line.path}: {line.reason}"
        case FactsNote():
            yield f"note: {line.text}"
        case FactsEnd():
            yield f"end: {line.units} units, {line.failed} failed, {line.cached} cached"
        case UnitFacts():
            yield from _unit(line)


def _unit(unit: UnitFacts) -> Iterator[str]:
    yield f"unit {unit.path} ({unit.language}, {unit.standard}, {unit.triple})"
    yield f"  {unit.options}"
    yield f"  {len(unit.files)} files, {len(unit.symbols)} symbols, hash {unit.hash}"
    for text in unit.errors:
        yield f"  error: {text}"
    for text in unit.notes:
        yield f"  note: {text}"
    for variable in unit.variables:
        yield from _variable(unit, variable)
    for _, raw in unit.records:
        yield from _record(unit, msgspec.json.decode(raw, type=RecordFacts))
    for _, raw in unit.functions:
        yield from _function(unit, msgspec.json.decode(raw, type=FunctionFacts))


def _place(unit: UnitFacts, file: int, line: int, column: int) -> str:
    return f"{unit.files[file] if 0 <= file < len(unit.files) else '?'}:{line}:{column}"


def _variable(unit: UnitFacts, v: VariableFacts) -> Iterator[str]:
    what = f"{v.type.name or v.type_text}, {v.size} bytes aligned to {v.align}, bits {v.bits:#x}, init {v.init}"
    yield f"  variable {v.identity}: {what}, {_place(unit, v.file, v.line, v.column)}"


def _record(unit: UnitFacts, r: RecordFacts) -> Iterator[str]:
    yield f"  record {r.key}: {r.size} bytes aligned to {r.align}, {_place(unit, r.file, r.line, r.column)}"
    for m in r.members:
        at = f"{m.offset_bits // 8}" if not m.bit_size else f"{m.offset_bits // 8}.{m.offset_bits % 8}:{m.bit_size}"
        yield f"    {at:>8} {m.name or '(unnamed)'}: {m.type.name}, {m.type.size} bytes"


def _function(unit: UnitFacts, f: FunctionFacts) -> Iterator[str]:
    yield f"  function {f.identity}: {_place(unit, f.file, f.line, f.column)}, bits {f.bits:#x}"
    for lock in f.locks:
        yield f"    lock {lock.text} ({lock.row})"
    for name, columns, rows in (
        ("access", ACCESS_COLUMNS, f.accesses),
        ("call", CALL_COLUMNS, f.calls),
        ("lock op", LOCK_OP_COLUMNS, f.lock_ops),
    ):
        for row in _rows(rows, len(columns)):
            yield f"    {name} " + " ".join(f"{c}={v}" for c, v in zip(columns, row, strict=False))


def _rows(values: Sequence[int], width: int) -> Iterable[Sequence[int]]:
    return (values[i : i + width] for i in range(0, len(values), width))


if __name__ == "__main__":
    sys.exit(main())
