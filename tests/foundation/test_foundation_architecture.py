"""The architecture as a test: which package may import which, and how a module is written."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

# The table is the architecture.  A package may import itself, the standard library, the libraries of
# requirements.txt and what stands here.
MAY_IMPORT = {
    "sharing": (),
    "elfscan": ("sharing.model",),
    "pmu": ("sharing.model",),
    "analyzer": ("sharing.model", "elfscan.tools"),
    "reports": ("sharing.model",),
    "linemate": ("sharing", "analyzer", "elfscan", "pmu", "reports"),
    "bench": (),
    "fuzz": ("sharing", "analyzer", "elfscan", "pmu", "reports", "linemate"),
}
# The corpus of counted programs holds the passes' own estimates against what ran.
TRUTH_MAY_IMPORT = ("bench", "linemate", "elfscan", "pmu", "sharing")
# sharing.model in turn is what everyone else stands on.
MODEL_MAY_IMPORT = ("sharing.model",)

ONLY_IN = {"networkx": "sharing/judge/conflicts.py"}
MAX_LINES = 500
NATIVE_SUFFIXES = {".cpp", ".h", ".c"}


def modules(root: Path) -> list[Path]:
    return sorted(path for package in MAY_IMPORT for path in (root / package).rglob("*.py"))


def imports(path: Path, root: Path, text: str | None = None) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, at any depth of nesting, with its line; relative ones resolved."""
    package = path.relative_to(root).parent.parts
    for node in ast.walk(ast.parse(path.read_text() if text is None else text)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = list(package[: len(package) - node.level + 1]) if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from sharing import model` names a module by its second half.
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names)


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def violations(path: Path, root: Path, text: str | None = None) -> list[str]:
    relative = path.relative_to(root)
    own = relative.parts[0]
    special = {("sharing", "model"): MODEL_MAY_IMPORT, ("bench", "truth"): TRUTH_MAY_IMPORT}
    allowed = special.get(relative.parts[:2], (own, *MAY_IMPORT[own]))
    return [
        f"{relative}:{line} imports {name}"
        for name, line in imports(path, root, text)
        if any(within(name, package) for package in MAY_IMPORT) and not any(within(name, a) for a in allowed)
    ]


def test_imports_go_one_way(repository: Path) -> None:
    assert [v for path in modules(repository) for v in violations(path, repository)] == []


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("elfscan/x.py", "from sharing.judge import judge"),
        ("elfscan/x.py", "import sharing.rules"),
        ("elfscan/x.py", "from sharing import judge"),
        ("reports/x.py", "def f():\n    import elfscan.image"),
        ("sharing/x.py", "from elfscan import image"),
        ("sharing/rules/x.py", "import linemate.cli"),
        ("sharing/model/x.py", "from sharing import knowledge"),
        ("sharing/model/x.py", "from ..rules import table"),
    ],
)
def test_the_rule_sees_an_import_against_the_flow(repository: Path, where: str, text: str) -> None:
    assert len(violations(repository / where, repository, text)) == 1


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("elfscan/x.py", "from sharing.model import Image\nfrom sharing import model"),
        ("elfscan/x.py", "from . import tools\nfrom .tools import ToolJob\nimport numpy"),
        ("sharing/rules/x.py", "from ..model import Finding\nfrom sharing import lines"),
        ("linemate/x.py", "import elfscan.image\nimport sharing.judge\nimport reports"),
    ],
)
def test_the_rule_lets_the_flow_pass(repository: Path, where: str, text: str) -> None:
    assert violations(repository / where, repository, text) == []


def test_a_library_with_one_place_stays_there(repository: Path) -> None:
    strays = [
        f"{path.relative_to(repository)}:{line} imports {name}"
        for path in modules(repository)
        for name, line in imports(path, repository)
        for library, place in ONLY_IN.items()
        if within(name, library) and path != repository / place
    ]
    assert strays == []


def test_every_package_is_in_the_table(repository: Path) -> None:
    packages = {path.parent.name for path in repository.glob("*/__init__.py")} - {"tests"}
    assert packages <= MAY_IMPORT.keys()


def test_every_module_opens_with_a_docstring(repository: Path) -> None:
    files = modules(repository) + sorted((repository / "tests").rglob("*.py"))
    assert [str(p.relative_to(repository)) for p in files if not ast.get_docstring(ast.parse(p.read_text()))] == []


def native_files(repository: Path) -> list[Path]:
    folders = [repository / name for name in ("elfscan/native", "fuzz/native")]
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
