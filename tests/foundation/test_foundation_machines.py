"""What is known of processor architectures stands in their rows: nothing else in Python decides by their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sharing.model.arch import MACHINES
from tests.foundation.parsed import parsed

PACKAGES = ("analyzer", "elfscan", "linemate", "pmu", "reports", "sharing")
ROWS = "sharing/model/arch"
FAMILIES = ("x86", "amd64", "arm64", "a64", "riscv", "power", "ppc", "s390", "sparc", "mips", "loongarch")

# Where a name is a format's or a sentence's, and decides nothing.
WORDS = {
    "elfscan/fileformat/sections.py": "names of sections",
    "sharing/basics/numbers.py": "what a number was measured on",
    "sharing/sampled/numbers.py": "what a number was measured on",
}


def names() -> re.Pattern[str]:
    rows = {name for row in MACHINES for name in (row.name, *row.unames, *(target.name for target in row.targets))}
    known = sorted({*rows, *FAMILIES} - {"arm", "power"}, key=len, reverse=True)
    return re.compile(r"(?<![a-z])(?:" + "|".join(re.escape(name).replace("-", "[-_]") for name in known) + ")", re.I)


def words(tree: ast.Module) -> Iterator[str]:
    """Identifiers and strings that are no docstrings."""
    documentation = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            documentation.add(id(node.body[0].value))  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str() as text) if id(node) not in documentation:
                yield text
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Attribute(attr=name):
                yield name


def test_no_module_but_the_rows_names_an_architecture(repository: Path) -> None:
    pattern = names()
    found: dict[str, list[str]] = {}
    for package in PACKAGES:
        for path in sorted((repository / package).rglob("*.py")):
            name = str(path.relative_to(repository))
            if name.startswith(ROWS):
                continue
            if pattern.search(path.read_text()):
                named = [word for word in words(parsed(path)) if pattern.search(word)]
                found.update({name: named} if named else {})
    assert {name: named for name, named in found.items() if name not in WORDS} == {}
    assert set(WORDS) <= set(found), "an exception that is none any more"
