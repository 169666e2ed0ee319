"""Code that was compiled without optimization is known by how its functions begin."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from sharing.model import FunctionFlag
from tests.elf.conftest import Read

PROGRAM = """
#include <stdlib.h>
long counts[4];
long add(long *at, long x) { return *at += x; }
float scale(float x) { return x * 3; }
void nothing(void) { counts[1] = 1; }
double many(long a, int b, char c, double d, int *e) { char room[300]; room[a] = c; return *e + b + d + room[b]; }
int main(int argc, char **argv) { nothing(); return add(counts, argc) + scale(argc) + many(1, 2, 3, 4, &argc) > 9; }
"""
OWN = {"add", "scale", "nothing", "many", "main"}


def flagged(tmp_path: Path, read: Read, compiler: str, *flags: str) -> set[str]:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    subprocess.run([compiler, *flags, "-o", str(program), str(source)], check=True)
    image = read(program)
    rows = zip(image.functions["flags"].tolist(), image.functions["name"].tolist(), strict=True)
    return {image.names[name] for flag, name in rows if flag & FunctionFlag.UNOPTIMIZED and name >= 0} & OWN


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize(
    "flags", [(), ("-fcf-protection=full",), ("-fstack-protector-all", "-no-pie"), ("-c",)], ids=" ".join
)
def test_what_keeps_its_arguments_in_memory_was_not_optimized(
    tmp_path: Path, read: Read, compiler: str, flags: tuple[str, ...]
) -> None:
    """Nor was what has none, in the same file."""
    assert flagged(tmp_path, read, compiler, "-O0", *flags) == OWN


@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_a_frame_pointer_alone_says_nothing(tmp_path: Path, read: Read, compiler: str, level: str) -> None:
    assert not flagged(tmp_path, read, compiler, level, "-fno-omit-frame-pointer", "-fno-inline")


def test_another_architecture_is_not_asked(tmp_path: Path, read: Read) -> None:
    assert not flagged(tmp_path, read, "aarch64-linux-gnu-gcc", "-O0", "-c")
