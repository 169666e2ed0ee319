"""How a module is written: its length, its opening words, its name.  Who may import whom stands in pyproject.toml."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.foundation.parsed import parsed

MAX_LINES = 500
NATIVE_SUFFIXES = {".cpp", ".h", ".c"}


def modules(root: Path) -> list[Path]:
    return sorted(path for package in root.glob("*/__init__.py") for path in package.parent.rglob("*.py"))


def test_every_module_opens_with_a_docstring(repository: Path) -> None:
    undocumented = [p for p in modules(repository) if not ast.get_docstring(parsed(p))]
    # Of tests no tree is needed elsewhere; making them takes seconds.
    undocumented += [p for p in (repository / "tests").rglob("*.py") if not p.read_text().startswith('"""')]
    assert [str(p.relative_to(repository)) for p in undocumented] == []


def native_files(repository: Path) -> list[Path]:
    folders = [repository / name for name in ("elfscan/native", "fuzz/native", "bench/truth/native")]
    return sorted(p for folder in folders for p in folder.rglob("*") if p.suffix in NATIVE_SUFFIXES)


def test_every_native_file_opens_with_a_comment(repository: Path) -> None:
    files = native_files(repository)
    assert [str(p.relative_to(repository)) for p in files if not p.read_text().startswith(("//", "/*"))] == []


def test_no_module_is_longer_than_one_concept(repository: Path) -> None:
    native = native_files(repository)
    tests = sorted((repository / "tests").rglob("*.py"))
    lengths = {p: len(p.read_text().splitlines()) for p in modules(repository) + native + tests}
    assert {str(p.relative_to(repository)): n for p, n in lengths.items() if n > MAX_LINES} == {}


def test_no_module_is_named_like_the_library_it_would_use(repository: Path) -> None:
    """A reports/json.py would make `json` mean two things to its reader, and to a script run in that folder."""
    assert [str(p.relative_to(repository)) for p in modules(repository) if p.stem in {"html", "json"}] == []
