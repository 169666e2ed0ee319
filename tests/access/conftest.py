"""Compilers for the access tests: programs are built on the fly, a missing compiler is a visible skip."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent

# name: (C, C++); the names are what test parameters show.
COMPILERS: dict[str, tuple[list[str], list[str]]] = {
    "gcc-x86-64": (["gcc"], ["g++"]),
    "clang-x86-64": (["clang-19", "--target=x86_64-linux-gnu"], ["clang++-19", "--target=x86_64-linux-gnu"]),
    "gcc-aarch64": (["aarch64-linux-gnu-gcc"], ["aarch64-linux-gnu-g++"]),
    "clang-aarch64": (["clang-19", "--target=aarch64-linux-gnu"], ["clang++-19", "--target=aarch64-linux-gnu"]),
    "gcc-riscv64": (["riscv64-linux-gnu-gcc"], ["riscv64-linux-gnu-g++"]),
    "clang-riscv64": (["clang-19", "--target=riscv64-linux-gnu"], ["clang++-19", "--target=riscv64-linux-gnu"]),
}
CROSS = {"aarch64": "aarch64-linux-gnu-ld", "riscv64": "riscv64-linux-gnu-ld"}

Build = Callable[..., str]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """``build(compiler, source, *flags)``: the path of the linked program, compiled once per session."""
    root = tmp_path_factory.mktemp("programs")
    done: dict[tuple[str, ...], str] = {}

    def compile_(compiler: str, source: str | Path, *flags: str) -> str:
        path = HERE / source
        key = (compiler, str(path), *flags)
        if key in done:
            return done[key]
        command = COMPILERS[compiler][path.suffix == ".cpp"]
        if shutil.which(command[0]) is None:
            pytest.skip(f"{command[0]} is not installed")
        linker = CROSS.get(compiler.partition("-")[2])
        if linker is not None and shutil.which(linker) is None:
            pytest.skip(f"{linker} is not installed")
        out = str(root / f"program{len(done)}")
        run = subprocess.run([*command, *flags, str(path), "-o", out], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        done[key] = out
        return out

    return compile_
