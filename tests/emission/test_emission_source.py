"""From source to offsets: what the Clang tool says of a program, laid out by the model, equals its object files.

The programs hold what random units lack: loops, blocks, local pointers to statics, tables of functions, classes.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from elfscan.image import read_images
from elfscan.tools import tool_path
from sharing.model.facts import FactsLine
from sharing.model.image import SectionKind
from sharing.source.emission import Contribution, unit_contributions
from sharing.source.merge import merge
from sharing.source.objects import from_object
from sharing.source.program import Program

PROGRAMS = Path(__file__).parent / "programs"
KNOWLEDGE = Path(__file__).parents[2] / "sharing" / "knowledge"
JUDGED = (SectionKind.WRITABLE, SectionKind.TLS)


def read(source: Path, compiler: str, flags: tuple[str, ...]) -> Program:
    database = source.parent / "compile_commands.json"
    command = {"directory": str(source.parent), "file": str(source), "arguments": [compiler, *flags, "-c", str(source)]}
    database.write_bytes(msgspec.json.encode([command]))
    done = subprocess.run(
        [tool_path("linemate-facts"), "--knowledge", KNOWLEDGE, "-p", database],
        capture_output=True,
        text=True,
        check=False,
        cwd=source.parent,
    )
    assert done.returncode == 0, done.stderr
    program = merge(msgspec.json.decode(line, type=FactsLine) for line in done.stdout.splitlines())
    assert len(program.units) == 1, done.stderr
    return program


def offsets(contributions: tuple[Contribution, ...]) -> dict[str, tuple[str, int]]:
    return {
        member.identity: (contribution.section, member.offset)
        for contribution in contributions
        if contribution.kind in JUDGED
        for member in contribution.members
    }


def compare(folder: Path, name: str, compiler: str, flags: tuple[str, ...]) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source = Path(shutil.copy(PROGRAMS / name, folder))
    subprocess.run([compiler, *flags, "-w", "-c", source, "-o", folder / "unit.o"], check=True)
    program = read(source, compiler, flags)
    assert not program.units[0].errors
    (image,) = read_images(str(folder / "unit.o"), types=False, access=False)
    truth = offsets(from_object(image, program.units[0]))
    assert len(truth) >= 15
    said = offsets(unit_contributions(program, 0))
    names = sorted(truth.keys() | said.keys())
    differ = [
        f"{n.partition('@')[0]}: {compiler} {truth.get(n)}, model {said.get(n)}"
        for n in names
        if truth.get(n) != said.get(n)
    ]
    assert not differ, "\n".join(differ)


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("flags", [("-O0",), ("-O1", "-fno-pic"), ("-O2",), ("-Os", "-fPIC"), ("-O2", "-fcommon")])
def test_a_program_in_c(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    compare(tmp_path, "order.c", compiler, flags)


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize("flags", [("-O0",), ("-O1", "-fno-pic"), ("-O2", "-std=c++17"), ("-Os", "-fPIC")])
def test_a_program_in_cpp(tmp_path: Path, compiler: str, flags: tuple[str, ...]) -> None:
    compare(tmp_path, "order.cpp", compiler, flags)
