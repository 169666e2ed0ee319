"""Code without symbols and unwind frames: functions are told apart by who calls them, and what is left is stated."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from elfscan.image import read_images
from linemate import api
from reports.wording import facts
from sharing.model import FunctionFlag, Image

PROGRAM = r"""
volatile long hits;
__attribute__((noinline)) static void deep(long n) { while (n--) hits += n; }
__attribute__((noinline)) static void stored(long n) { hits -= n; deep(n); }
__attribute__((noinline)) static void taken(long n) { hits ^= n; deep(n + 1); }
void (*table[2])(long) = {stored, deep};
void (*volatile slot)(long);
int main(int n, char **v) {
  slot = taken;
  for (int i = 0; i < n; i++) { table[i & 1](i); slot(i); deep(i); }
  return (int)hits;
}
"""
BLIND = ("-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
# Bytes behind the code that nothing refers to.
FILLED = '__asm__(".pushsection .text.filled, \\"ax\\"; .fill {}, 1, {}; .popsection");\n'
TOOLS = ["gcc", "clang-19", "aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc"]


def built(folder: Path, tool: str, *flags: str, text: str = PROGRAM) -> Path:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    source = folder / "program.c"
    source.write_text(text)
    program = folder / "program"
    subprocess.run([tool, *flags, "-o", str(program), str(source)], check=True, capture_output=True)
    return program


def stripped(program: Path) -> Path:
    out = program.with_suffix(".stripped")
    tool = shutil.which("llvm-strip-19") or shutil.which("llvm-strip")
    if tool is None:
        pytest.skip("llvm-strip is not installed")
    subprocess.run([tool, "--strip-all", "-o", str(out), str(program)], check=True)
    return out


def image_of(program: Path) -> Image:
    return next(read_images(str(program), types=False))


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_begin_where_calls_and_stored_addresses_lead(tmp_path: Path, tool: str, level: str) -> None:
    program = built(tmp_path, tool, level, *BLIND)
    whole = image_of(program)
    names = {whole.names[f["name"]]: int(f["address"]) for f in whole.functions if f["name"] >= 0}
    blind = image_of(stripped(program))
    flags = dict(zip(blind.functions["address"].tolist(), blind.functions["flags"].tolist(), strict=True))
    for name in ("deep", "stored", "taken"):
        assert flags[names[name]] & FunctionFlag.FROM_CALLS, name
    assert blind.counts["decoded_bytes"] >= 0.9 * blind.counts["executable_bytes"]
    assert not blind.incomplete
    mine = (blind.functions["address"] <= names["deep"]) & (
        names["deep"] < blind.functions["address"] + blind.functions["size"]
    )
    assert np.isin(blind.sites["function"], np.flatnonzero(mine)).any()  # its accesses are seen


def test_what_symbols_or_frames_name_is_not_looked_for(tmp_path: Path) -> None:
    program = built(tmp_path, "gcc", "-O2", "-fasynchronous-unwind-tables")
    flags = image_of(stripped(program)).functions["flags"]
    unwound = np.count_nonzero(flags & FunctionFlag.FROM_UNWIND)
    assert unwound >= 4
    assert not (flags & FunctionFlag.FROM_CALLS & flags >> 1).any()


def test_little_decoded_code_is_an_incomplete_analysis(tmp_path: Path) -> None:
    text = FILLED.format(40_000, 0x5A) + PROGRAM
    report = api.audit(stripped(built(tmp_path, "gcc", "-O2", text=text)), config=False)
    assert report.incomplete
    assert any("bytes of code were decoded" in note for note in report.coverage.notes)
    note = next(note for note in report.coverage.notes if "bytes of code were decoded" in note)
    assert f"{note.partition(' of ')[0]} of " in facts(report)  # one share, however it is told
    counts = report.coverage.counts
    assert counts["decoded_bytes"] < 2000 < 40_000 < counts["executable_bytes"]


@pytest.mark.parametrize("byte", [0x90, 0xCC, 0])
def test_padding_is_no_code(tmp_path: Path, byte: int) -> None:
    text = FILLED.format(40_000, byte) + PROGRAM
    report = api.audit(stripped(built(tmp_path, "gcc", "-O2", text=text)), config=False)
    assert not report.incomplete
    assert report.coverage.counts["executable_bytes"] < 2000
