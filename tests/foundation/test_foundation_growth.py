"""What grows with the input grows in place: a tuple that is made anew for each part takes the square of their number.

Owns the one form of it that hostile files have found: ``table[key] = (*table.get(key, ()), part)``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.foundation.parsed import parsed


def made_anew(tree: ast.AST) -> Iterator[int]:
    """Lines that put a longer copy of a table's entry in its place."""
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)):
            continue
        tables = {ast.dump(t.value) for t in node.targets if isinstance(t, ast.Subscript)}
        for part in node.value.elts:
            if not isinstance(part, ast.Starred):
                continue
            inner = part.value
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "get":
                inner = inner.func
            if isinstance(inner, ast.Attribute | ast.Subscript) and ast.dump(inner.value) in tables:
                yield node.lineno


def test_no_table_makes_its_entries_anew_for_each_part(repository: Path) -> None:
    packages = [path.parent for path in repository.glob("*/__init__.py")]
    found = [
        f"{path.relative_to(repository)}:{line}"
        for folder in packages
        for path in sorted(folder.rglob("*.py"))
        for line in made_anew(parsed(path))
    ]
    # A readable name comes once to each variable.
    assert [place for place in found if not place.startswith("elfscan/image.py:")] == []


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("table[key] = (*table.get(key, ()), part)", True),
        ("table[key] = (*table[key], part)", True),
        ("table[key] = (part, *table.get(key, ()))", True),
        ("table[key] = (*other.get(key, ()), part)", False),
        ("table.setdefault(key, []).append(part)", False),
    ],
)
def test_the_form_is_known_by_the_table(text: str, is_found: bool) -> None:
    assert bool(list(made_anew(ast.parse(text)))) is is_found
