"""Variables of the source are found in what was built from it: offsets in object files, addresses in linked ones.

Truth is what the units say about themselves when they run: each prints the addresses of its variables.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from elfscan.image import read_images
from sharing.model.facts import TypeTree, UnitFacts, VariableBits
from sharing.model.types import TypeKind
from sharing.source.merge import assemble
from sharing.source.objects import from_binary, from_object
from tests.builders.units import unit_facts, variable_facts
from tests.emission import units

INT = TypeTree(TypeKind.BASE, "int", 4, 4)


@dataclass(frozen=True)
class Static:
    """A variable of the test's programs: its identity, symbol, size in bytes, scope and line."""

    identity: str
    symbol: str
    size: int
    scope: str = ""
    external: bool = False


def facts(path: Path, variables: tuple[Static, ...]) -> UnitFacts:
    found = [
        variable_facts(
            v.symbol,
            INT,
            identity=v.identity,
            scope=v.scope,
            size=v.size,
            bits=0 if v.external else int(VariableBits.INTERNAL),
            order=number,
        )
        for number, v in enumerate(variables)
    ]
    return unit_facts(str(path), variables=found, directory=str(path.parent), triple=units.X86)


COUNT = r"""
#include <stdio.h>
int {p}_shared = 1;
static int count;
static int table[4];
void {p}_one(void) {{ static int calls; static int limit[3]; calls++; limit[calls & 1]++;
  printf("{p}_one.calls %p\n{p}_one.limit %p\n", (void *)&calls, (void *)limit); }}
void {p}_two(void) {{ static long calls; calls++; count++; table[count & 3]++;
  printf("{p}_two.calls %p\n{p}.count %p\n{p}.table %p\n{p}_shared %p\n", (void *)&calls, (void *)&count, (void *)table,
         (void *)&{p}_shared); }}
"""
MAIN = """
void a_one(void); void a_two(void); void b_one(void); void b_two(void);
int main(void) { a_one(); a_two(); b_one(); b_two(); return 0; }
"""


def statics(p: str, clang: bool) -> tuple[Static, ...]:
    def local(function: str, name: str) -> str:
        return f"{p}_{function}.{name}" if clang else name

    return (
        Static(f"{p}_shared", f"{p}_shared", 4, external=True),
        Static(f"{p}.count", "count", 4),
        Static(f"{p}.table", "table", 16),
        Static(f"{p}_one.calls", local("one", "calls"), 4, f"{p}_one"),
        Static(f"{p}_one.limit", local("one", "limit"), 12, f"{p}_one"),
        Static(f"{p}_two.calls", local("two", "calls"), 8, f"{p}_two"),
    )


def build(folder: Path, compiler: str, *flags: str) -> tuple[Path, dict[str, int]]:
    """The linked program and the addresses that it prints."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    for prefix in "ab":
        (folder / f"{prefix}.c").write_text(COUNT.format(p=prefix))
    (folder / "main.c").write_text(MAIN)
    program = folder / "program"
    sources = [str(folder / name) for name in ("main.c", "a.c", "b.c")]
    command = [compiler, "-fno-pic", "-no-pie", *flags, "-o", str(program), *sources]
    subprocess.run(command, check=True, cwd=folder)
    said = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return program, {name: int(at, 16) for name, at in (line.split() for line in said.splitlines())}


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_statics_of_one_name_are_told_apart_by_their_unit(tmp_path: Path, compiler: str, level: str) -> None:
    program, truth = build(tmp_path, compiler, level, "-g")
    (image,) = read_images(str(program), types=True, access=False)
    clang = "clang" in compiler
    found = from_binary(image, assemble(facts(tmp_path / f"{p}.c", statics(p, clang)) for p in "ab"))
    assert found == truth


def test_without_debug_information_only_what_is_certain_is_found(tmp_path: Path) -> None:
    program, truth = build(tmp_path, "gcc", "-O2")
    (image,) = read_images(str(program), types=True, access=False)
    found = from_binary(image, assemble(facts(tmp_path / f"{p}.c", statics(p, False)) for p in "ab"))
    assert found == {name: truth[name] for name in ("a_shared", "b_shared")}


def test_addresses_come_in_order(tmp_path: Path) -> None:
    program, _ = build(tmp_path, "gcc", "-O2", "-g")
    (image,) = read_images(str(program), types=True, access=False)
    found = from_binary(image, assemble(facts(tmp_path / f"{p}.c", statics(p, False)) for p in "ab"))
    assert list(found.values()) == sorted(found.values())


@pytest.mark.parametrize(
    ("compiler", "language", "flags"),
    [
        ("gcc", "C", ("-O2", "-fno-pic")),
        ("gcc", "C", ("-O1", "-fcommon")),
        ("clang-19", "C", ("-O2", "-fdata-sections")),
        ("g++", "C++", ("-O0", "-fPIC")),
        ("clang++-19", "C++", ("-O2", "-fno-pic")),
    ],
)
def test_object_files_give_the_offsets_that_they_have(
    tmp_path: Path, compiler: str, language: str, flags: tuple[str, ...]
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    unit = units.make(7, language)
    if "clang" in compiler and language == "C":
        unit = unit.named_by_function()
    truth = units.built(unit, tmp_path, (compiler, *flags), language)
    (image,) = read_images(str(tmp_path / "unit.o"), types=False, access=False)
    shell = facts(tmp_path / "unit.c", ())
    whole = msgspec.structs.replace(shell, variables=tuple(unit.variables))
    assert units.predicted(from_object(image, whole)) == truth
