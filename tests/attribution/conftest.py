"""What tests of attribution share: assembled code as operand tables, and recordings made here."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from elfscan.code.query import read_operands, read_origins
from elfscan.fileformat.elf import ElfFile, map_file
from elfscan.image import read_image, read_images
from linemate.modules import open_modules
from pmu import read_samples
from sharing.knowledge import default_knowledge
from sharing.model.attribution import Attribution
from sharing.model.image import Image
from sharing.model.operands import Chosen, Role, WordSet
from sharing.sampled.attribution.attribute import attribute
from tests.alone import alone

ASSEMBLERS = {"x86-64": "gcc", "aarch64": "aarch64-linux-gnu-gcc", "riscv64": "riscv64-linux-gnu-gcc"}


@dataclass(frozen=True)
class Snippet:
    """Assembled code whose labels are addresses."""

    symbols: dict[str, int]
    points: npt.NDArray[Any]
    operands: npt.NDArray[Any]
    asked: tuple[str, ...]
    origins_at: Callable[[npt.NDArray[np.uint64]], npt.NDArray[Any]]

    def origins(self) -> list[tuple[int, int, int, bool]]:
        """(parent, base, displacement, indexed) of each row, for what was asked."""
        rows = self.origins_at(self.points["ip"])
        return [(int(r["parent"]), int(r["base"]), int(r["displacement"]), bool(r["indexed"])) for r in rows]

    def chosen(self) -> tuple[Chosen, list[int]]:
        """How the element is chosen that was asked for, and the places of the words that its number is loaded from."""
        rows = self.origins_at(self.points["ip"])
        numbers = np.flatnonzero(rows["kept"] == WordSet.NUMBER).tolist()
        words = [int(r["displacement"]) for r in rows if int(r["parent"]) in numbers]
        return Chosen(max(r["indexed"] for r in rows if r["kept"] != WordSet.NUMBER)), words

    def point(self, label: str) -> Any:
        return self.points[self.asked.index(label)]

    def before(self, label: str) -> Any:
        row = self.point(label)["before"]
        return None if row < 0 else self.operands[row]

    def at(self, label: str) -> Any:
        row = self.point(label)["at"]
        return None if row < 0 else self.operands[row]

    def witnesses(self, label: str) -> list[Any]:
        one = self.point(label)
        own = self.operands[one["first"] : one["first"] + one["count"]]
        return [o for o in own if o["role"] == Role.WITNESS]


@pytest.fixture
def assemble(tmp_path: Path) -> Callable[..., Snippet]:
    """Reads the operands at labels of a function ``f``; local names of the assembly start with a letter."""

    def run(text: str, *labels: str, architecture: str = "x86-64") -> Snippet:
        compiler = ASSEMBLERS[architecture]
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler}")
        source, out = tmp_path / "f.s", tmp_path / "f"
        kind = "@" if architecture == "x86-64" else "%"
        body = f".text\n.globl f\n.type f,{kind}function\nf:\n{text}\n.size f,.-f\n.data\n.globl v\nv: .quad 0\n"
        source.write_text(body)
        line = [compiler, "-nostdlib", "-shared", "-Wl,-Bsymbolic,--no-relax", "-o", str(out), str(source)]
        subprocess.run(line, check=True, capture_output=True)
        listing = subprocess.run(["nm", str(out)], capture_output=True, text=True, check=True).stdout
        symbols = {
            name: int(value, 16) for value, _, name in (one.split() for one in listing.splitlines() if one[0] != " ")
        }
        elf = ElfFile(str(out), map_file(str(out)))
        image = read_image(elf, types=False, access=False)
        asked = tuple(sorted(labels, key=lambda label: symbols[label]))
        start = image.functions["address"][image.functions["address"] == symbols["f"]]
        size = image.functions["size"][image.functions["address"] == symbols["f"]]
        ips = np.array([symbols[label] for label in asked], np.uint64)

        def code(low: int, high: int) -> bytes:
            return bytes(elf.bytes_at_address(low, high - low, "code"))

        points, operands = read_operands(elf.arch, ips, start, start + size, code)
        return Snippet(
            symbols, points, operands, asked, lambda of: read_origins(elf.arch, of, start, start + size, code)
        )

    return run


@dataclass(frozen=True)
class Placed:
    """A recording, placed."""

    attribution: Attribution
    image: Image

    def variable(self, row: Any) -> str:
        """The target's variable at a placed row, "" none."""
        table = self.image.variables
        at = int(np.searchsorted(table["address"], row["link"], "right")) - 1
        if row["data_module"] != 0 or at < 0 or row["link"] >= table["address"][at] + max(int(table["size"][at]), 1):
            return ""
        return self.image.names[int(table["name"][at])]

    def function(self, row: Any) -> str:
        return self.attribution.functions[row["function"]] if row["function"] >= 0 else ""


Record = Callable[..., Path]


def _recorded(options: tuple[str, ...], command: tuple[str, ...], out: Path) -> Path:
    if not shutil.which("perf"):
        pytest.skip("no perf")
    line = ["perf", "record", *options, "-o", str(out), "--", *command]
    with alone():
        done = subprocess.run(line, capture_output=True, env={**os.environ, "LC_ALL": "C"}, check=False)
    if done.returncode:
        pytest.skip(f"perf record {' '.join(options)}: {done.stderr.decode(errors='replace').strip()[-200:]}")
    return out


CLOCK = ("-e", "cpu-clock", "-c", "250000", "-I", "-d", "--user-regs=ip,sp,di")


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """Runs perf record; skips with perf's own words where it cannot."""

    def run(options: tuple[str, ...], *command: str) -> Path:
        return _recorded(options, command, tmp_path_factory.mktemp("recording") / "perf.data")

    return run


@pytest.fixture(scope="session")
def place() -> Callable[[Path, Path], Placed]:
    """Reads a profile and places its samples."""

    def run(profile: Path, binary: Path) -> Placed:
        samples, image = read_samples(profile), next(iter(read_images(str(binary))))
        knowledge = default_knowledge()
        return Placed(attribute(samples, image, open_modules(samples, image, knowledge), knowledge), image)

    return run


# One thread adds to a counter through a pointer, one reads another counter; then memory of every kind.
PROGRAM = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
long written __attribute__((aligned(64)));
long seen;
static __thread volatile long own;
static volatile int done;
__attribute__((noinline)) void add(long *to) { __atomic_fetch_add(to, 1, __ATOMIC_RELAXED); }
__attribute__((noinline)) long look(void) { return __atomic_load_n(&seen, __ATOMIC_RELAXED); }
static void *writer(void *_) { while (!done) add(&written); return 0; }
static void *reader(void *_) { long sum = 0; while (!done) sum += look(); return (void *)sum; }
__attribute__((noinline)) void shared_add(long *to) { for (int i = 0; i < 3000000; i++) add(to); }
__attribute__((noinline)) void own_add(void) { for (int i = 0; i < 30000000; i++) own++; }
int main(int argc, char **argv) {
  pthread_t w, r;
  pthread_create(&w, 0, writer, 0);
  pthread_create(&r, 0, reader, 0);
  usleep(300000);
  done = 1;
  pthread_join(w, 0);
  pthread_join(r, 0);
  if (argc > 1) return 0; /* a breakpoint would take minutes for the rest */
  long *common = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  long *heap = malloc(4096), stack = 0;
  pid_t child = fork();
  shared_add(common + 1);
  shared_add(heap);
  shared_add(&stack);
  shared_add(&written);
  own_add();
  if (child) waitpid(child, 0, 0);
  return 0;
}
"""


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A threaded and forking program at a fixed address."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    where = tmp_path_factory.mktemp("program")
    (where / "p.c").write_text(PROGRAM)
    out = where / "places"
    subprocess.run(["gcc", "-O2", "-g", "-no-pie", "-pthread", str(where / "p.c"), "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="session")
def placed(program: Path, record: Record, place: Callable[[Path, Path], Placed]) -> Placed:
    """The program's samples of a timer, with registers."""
    return place(record(CLOCK, str(program)), program)


@pytest.fixture(scope="session")
def table_cache(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The slow layout of the table cache at a fixed address."""
    if not shutil.which("g++") or not shutil.which("make"):
        pytest.skip("no g++ or no make")
    out = tmp_path_factory.mktemp("table_cache")
    flags = ["CXXFLAGS=-O2 -g -fno-pie", "LDFLAGS=-no-pie", f"OUT={out}", f"{out}/slow"]
    source = str(repository / "testdata/programs/table_cache")
    subprocess.run(["make", "-s", "-C", source, *flags], check=True, capture_output=True)
    return out / "slow"
