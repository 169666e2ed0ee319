"""Moves packages below another: ``from sharing.model import X`` becomes ``from linemate.sharing.model import X``.

Owns the rewriting of one file's text, and its proof: the result must parse to the original's tree with nothing but the
names of imported modules changed.  What is copied where is the backend's.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterable, Iterator

_FROM = re.compile(rb"from(?:[ \t\f]|\\\r?\n)+")


class NotMovable(Exception):
    """A line that would mean something else, or nothing, below the new parent."""


def moved(text: str, where: str, packages: Collection[str], parent: str) -> str:
    """The text of a module with the imports of ``packages`` below ``parent``.

    Raises NotMovable for ``import package.module`` without ``as``, which binds the package's own name, and for a
    string that is a module's name: whoever imports it says ``f"{__name__}.module"``.
    """
    nodes = list(ast.walk(ast.parse(text)))
    _refuse(nodes, where, packages)
    data = text.encode()
    for at in sorted(_module_names(nodes, data, packages), reverse=True):
        data = data[:at] + f"{parent}.".encode() + data[at:]
    out = data.decode()
    for node in nodes:
        _move(node, packages, parent)
    # Text was only put in, and only in front of module names: equal kinds of nodes and equal imports make equal trees.
    if list(map(_shape, ast.walk(ast.parse(out)))) != list(map(_shape, nodes)):
        raise NotMovable(f"{where}: an import was not understood")
    return out


def _is_ours(name: str | None, packages: Collection[str]) -> bool:
    return name is not None and name.partition(".")[0] in packages


def _refuse(nodes: Iterable[ast.AST], where: str, packages: Collection[str]) -> None:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name, packages) and alias.asname is None:
                    raise NotMovable(f"{where}:{node.lineno}: write `from … import` or `import {alias.name} as …`")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value:
            parts = node.value.split(".")
            if parts[0] in packages and all(part.isidentifier() for part in parts):
                raise NotMovable(f'{where}:{node.lineno}: write f"{{__name__}}.module" for "{node.value}"')


def _module_names(nodes: Iterable[ast.AST], data: bytes, packages: Collection[str]) -> Iterator[int]:
    """Where each absolute module name of ``packages`` begins that an import statement names, in bytes."""
    lines = list(itertools.accumulate(map(len, data.splitlines(keepends=True)), initial=0))
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_ours(alias.name, packages):
                    yield lines[alias.lineno - 1] + alias.col_offset
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module, packages):
            keyword = _FROM.match(data, lines[node.lineno - 1] + node.col_offset)
            assert keyword
            yield keyword.end()


def _move(node: ast.AST, packages: Collection[str], parent: str) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if _is_ours(alias.name, packages):
                alias.name = f"{parent}.{alias.name}"
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and _is_ours(node.module, packages):
        node.module = f"{parent}.{node.module}"


def _shape(node: ast.AST) -> type[ast.AST] | str:
    return ast.dump(node) if isinstance(node, ast.Import | ast.ImportFrom) else type(node)
