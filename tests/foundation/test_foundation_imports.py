"""Imports as a graph: modules form no cycle, and the contracts in pyproject.toml speak of every package.

The contracts themselves are held by ``lint-imports``, which ``scripts/test`` runs.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import grimp
import networkx
import pytest


def cycles(*packages: str) -> set[frozenset[str]]:
    """Sets of modules that import each other, directly or through others; imports inside of functions count."""
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = networkx.DiGraph(
        (module, other) for module in graph.modules for other in graph.find_modules_directly_imported_by(module)
    )
    return {frozenset(part) for part in networkx.strongly_connected_components(imports) if len(part) > 1}


def packages(repository: Path) -> set[str]:
    return {path.parent.name for path in repository.glob("*/__init__.py")} - {"tests"}


def test_no_modules_import_each_other(repository: Path) -> None:
    assert cycles(*packages(repository)) == set()


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ("import ring_of_two.first", {frozenset({"ring_of_two.first", "ring_of_two.second"})}),
        ("def late():\n    from ring_of_two import first", {frozenset({"ring_of_two.first", "ring_of_two.second"})}),
        ("import json", set()),
    ],
    ids=["at the top", "late", "near miss"],
)
def test_a_cycle_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str, expected: set[frozenset[str]]
) -> None:
    folder = tmp_path / "ring_of_two"
    folder.mkdir()
    for name, text in (("__init__", ""), ("first", "from ring_of_two import second"), ("second", second)):
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        assert cycles("ring_of_two") == expected
    finally:
        sys.modules.pop("ring_of_two", None)


def test_the_contracts_speak_of_every_package(repository: Path) -> None:
    config = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["importlinter"]
    assert set(config["root_packages"]) == packages(repository)
