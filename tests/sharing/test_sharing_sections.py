"""Sections of a parallel region of OpenMP: each is one thread's, and all run at the same time."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from linemate import api
from sharing.model.finding import Finding, Severity
from tests.sharing.conftest import Compile

SOURCE = """
struct mixer { _Atomic float left, right; } mix __attribute__((aligned(64)));
struct mixer *behind;
#define FILL(peak, step) { \\
  unsigned phase = step; \\
  for (int i = 0; i < 1000000; i++) { \\
    phase += step; \\
    float now = peak * 0.999f; \\
    peak = (float)phase > now ? (float)phase : now; \\
  } }
int main(int argc, char **argv) {
  REGION
  return (int)(mix.left + mix.right);
}
"""
SECTIONS = """
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    LEFT
#pragma omp section
    RIGHT
  }
"""
WITHIN = """
#pragma omp parallel
  {
    if (argc > 5) mix.left = 3;
#pragma omp barrier
#pragma omp sections
    {
#pragma omp section
      LEFT
#pragma omp section
      RIGHT
#pragma omp section
      if (argc > 3) __builtin_printf("many");
    }
  }
"""
ROUNDS = """
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 1000; i++)
    if (i % 3) LEFT
    else RIGHT
"""
LEFT, RIGHT = "FILL(mix.left, 77777777u)", "FILL(mix.right, 123456789u)"
compilers = pytest.mark.parametrize("tool", ["gcc", "clang-19"])
RUNTIME = "".join(f"void {name}(void) {{}}\n" for name in (
    "__kmpc_fork_call", "__kmpc_for_static_init_4", "__kmpc_for_static_fini", "__kmpc_barrier",
    "__kmpc_global_thread_num", "__kmpc_push_num_threads",
))  # fmt: skip


def audited(compiled: Compile, folder: Path, tool: str, region: str, *flags: str) -> list[Finding]:
    text = SOURCE.replace("REGION", region.replace("LEFT", LEFT).replace("RIGHT", RIGHT))
    library = folder / "runtime.c"  # of clang, which not every system has
    library.write_text(RUNTIME)
    subprocess.run(["gcc", "-shared", "-fPIC", str(library), "-o", str(folder / "libomp.so")], check=True)
    built = compiled(tool, "c", text, "-fopenmp", f"-L{folder}", "-g", *flags)
    return [
        one for one in api.audit(str(built), min_severity=Severity.LOW).findings if one.rule == "independent-writers"
    ]


@compilers
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("region", [SECTIONS, WITHIN], ids=["alone", "behind a barrier"])
def test_two_sections_are_two_threads(compiled: Compile, tmp_path: Path, tool: str, level: str, region: str) -> None:
    (found,) = audited(compiled, tmp_path, tool, region, level)
    assert {part.full_name for part in found.participants} == {"mix.left", "mix.right"}
    assert found.severity.rank >= Severity.MEDIUM.rank


@compilers
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_rounds_of_a_loop_are_no_sections(compiled: Compile, tmp_path: Path, tool: str, level: str) -> None:
    assert not audited(compiled, tmp_path, tool, ROUNDS, level)


@compilers
def test_one_section_alone_meets_nobody(compiled: Compile, tmp_path: Path, tool: str) -> None:
    both = SECTIONS.replace("LEFT", "{ LEFT RIGHT }", 1).replace("\n    RIGHT\n", "\n    ;\n", 1)
    assert not audited(compiled, tmp_path, tool, both, "-O2")
