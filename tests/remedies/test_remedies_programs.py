"""Remedies as printed, put into the programs that they are about: gcc and clang compile them, and the pair is apart.

``// expect: RULE KIND NAME...`` are the remedies of the one finding, ``// cost: N objects`` how many objects grow.
A line that ends in ``// decl: NAME`` is what an edit of NAME replaces; ``U_NAME`` stands for its use.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from linemate.options import AuditOptions
from linemate.pipeline import audit
from sharing.model import Finding, Remedy

PROGRAMS = sorted((Path(__file__).parent / "programs").iterdir())
COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang-19", "clang++-19")}
DECLARED = re.compile(r"(\w+)((?:\[\d+\])*);")
MARK = re.compile(r"^(.*?)\s*// decl: (\w+)$", re.M)


def build(text: str, source: Path, compiler: str, folder: Path) -> Path:
    tool = COMPILERS[compiler][source.suffix == ".cc"]
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    (folder / source.name).write_text(text)
    order = ["-fno-toplevel-reorder"] if compiler == "gcc" else []  # clang keeps the order
    command = [tool, "-O1", *order, "-g", "-Wall", "-Werror", "-pthread", "-o", "program", source.name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    return folder / "program"


def findings(program: Path) -> list[Finding]:
    return [f for f in audit(AuditOptions(str(program))).findings if f.rule != "safe-by-luck"]


def with_uses(text: str, edited: dict[str, str]) -> str:
    """``U_NAME`` as the name, or what an edit made of its use."""
    lines = []
    for name in re.findall(r"// decl: (\w+)", text):
        value = ".value" if edited.get(name) in ("pad-type", "pad-element") else ""
        lines += [f"#define U_{name}{'(at)' if f'U_{name}(' in text else ''} {name}"
                  f"{'[at]' if f'U_{name}(' in text else ''}{value}"]  # fmt: skip
    return "\n".join([*lines, text])


def apply(text: str, remedies: tuple[Remedy, ...]) -> tuple[str, dict[str, str]]:
    """The program with the edits' own words in the place of its declarations, and the kind by name."""
    edited: dict[str, str] = {}
    for remedy in remedies:
        types, declared = [], {}
        for line in remedy.edit.splitlines():
            code = re.split(r"//|/\*", line)[0].strip()
            found = DECLARED.search(code) if "{" not in code else None
            if found is None:
                types.append(line)
            else:
                declared[found[1]] = code
        assert declared, remedy.edit
        lines = []
        anchor, moved = next(iter(declared)), list(declared)[-1]
        for line in text.split("\n"):
            mark = MARK.match(line)
            name = mark[2] if mark is not None else ""
            if remedy.kind != "move-member":
                lines.append(f"  {declared[name]} // decl: {name}" if name in declared else line)
            elif name == anchor:
                lines += [line, f"  {declared[moved]}"]
            elif name != moved:
                lines.append(line)
        text = "\n".join(lines)
        at = text.index("\nstruct ") if "\nstruct " in text else 0
        if remedy.kind == "pad-type" or "struct place" in remedy.edit:
            at = text.index("\n", text.index("\nstruct ") + 1)  # behind the type that it wraps
        text = "\n".join([text[:at], *types, text[at:]])
        edited |= dict.fromkeys(declared, remedy.kind)
    return text, edited


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("source", PROGRAMS, ids=lambda p: p.name)
def test_the_printed_edit_compiles_and_ends_the_finding(source: Path, compiler: str, tmp_path: Path) -> None:
    text = source.read_text()
    expected = next(line.split()[2:] for line in text.splitlines() if line.startswith("// expect:"))
    objects = re.search(r"// cost: (\d+) objects", text)
    before = findings(build(with_uses(text, {}), source, compiler, tmp_path))
    assert [f.rule for f in before] == expected[:1]
    remedies = before[0].remedies
    kinds = [(r.kind, name) for r, name in zip(remedies, expected[2::2], strict=True)]
    assert kinds == list(zip(expected[1::2], expected[2::2], strict=True))
    assert all(re.search(rf"\b{name}\b", r.text) for r, (_, name) in zip(remedies, kinds, strict=True))
    assert remedies[0].objects == (int(objects[1]) if objects else 8 if {"slots", "grid"} & {*expected} else 1)
    after, edited = apply(text, remedies)
    assert findings(build(with_uses(after, edited), source, compiler, tmp_path)) == []
