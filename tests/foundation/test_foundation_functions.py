"""How much a function takes and does: parameters become an options object, long bodies become steps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.foundation.parsed import parsed

MAX_PARAMETERS = 7  # ``self`` aside
MAX_LINES = 60  # from the docstring on

MAX_OF_COMMANDS = 11  # groups of options (``linemate.commands.groups``), and what belongs to none
KEYWORDS = "linemate/api.py"  # what users of Python write, one a name
LONG = {
    "tests/emission/units.py:variable": "draws one feature of a declaration after the other",
}


def functions(repository: Path) -> Iterator[tuple[str, ast.FunctionDef]]:
    """``path:name`` and definition of every function of the packages and tests."""
    packages = [path.parent for path in repository.glob("*/__init__.py")]
    for folder in [*packages, repository / "tests"]:
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(repository)
            for node in ast.walk(parsed(path)):
                if isinstance(node, ast.FunctionDef):
                    yield f"{name}:{node.name}", node


def parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    return len(names) + len(arguments.kwonlyargs) - (names[:1] in (["self"], ["cls"]))


def test_functions_take_few_parameters(repository: Path) -> None:
    """In tests, keywords of builders and fixtures are the words of the specification: only packages are held."""
    many = {
        name: parameters(function)
        for name, function in functions(repository)
        if parameters(function) > (MAX_OF_COMMANDS if name.endswith(":command") else MAX_PARAMETERS)
        and not name.startswith(("tests/", KEYWORDS))
    }
    assert many == {}


def test_functions_read_as_steps(repository: Path) -> None:
    lengths = {name: (f.end_lineno or 0) - f.body[0].lineno + 1 for name, f in functions(repository)}
    long = {name: lines for name, lines in lengths.items() if lines > MAX_LINES}
    assert {name: lines for name, lines in long.items() if name not in LONG} == {}
    assert set(LONG) == set(long), "an exception that is none any more"
