"""Small programs that start threads in every way that is known, or none, and what is said of each.

The oracle is what the program does (``threadprograms.toml``).  Of one that runs code beside main either the function is
known or the structure is said to be unknown, and never that nothing starts a thread; of another nothing else.
"""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.image import read_images
from sharing.knowledge import default_knowledge
from sharing.static.roots import ThreadStructure, thread_structure

PROGRAMS = tomllib.loads((Path(__file__).parent / "threadprograms.toml").read_text())
HEAD = PROGRAMS.pop("head")
THREADS, KNOWN, ALONE, UNDECIDED = (PROGRAMS[name] for name in ("threads", "known", "alone", "undecided"))
DYNAMIC_THREADS, MODULES, DYNAMIC_ALONE, STUBS = (
    PROGRAMS[name] for name in ("dynamic_threads", "dynamic_modules", "dynamic_alone", "stubs")
)
LINKED = {
    "dynamic": ("-O2", "-s"),
    "unoptimised": ("-O0",),
    "static": ("-O2", "-static", "-s"),
    "static with symbols": ("-O2", "-static"),
}
DYNAMIC = ("dynamic", "unoptimised")

Said = Callable[[str, str], ThreadStructure]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """What is said of the threads of the program with this main, linked so."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    folder = tmp_path_factory.mktemp("matrix")

    def build(body: str, how: str, *more: str) -> ThreadStructure:
        source = folder / "program.c"
        source.write_text(f"{HEAD}\nint main(int n, char **v) {{ {body} return miss(); }}\n")
        return structure(["gcc", "-w", str(source), *LINKED[how], "-pthread", "-lrt", "-ldl", "-lanl", *more], folder)

    return build


def structure(command: list[str], folder: Path) -> ThreadStructure:
    program = folder / "program"
    made = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    (image,) = read_images(str(program), types=False)
    return thread_structure(image, default_knowledge(), assume_threads=False)


def entries(found: ThreadStructure) -> list[str]:
    return [root.name for root in found.roots if root.function >= 0 and root.name != "main"]


@pytest.mark.parametrize("how", LINKED)
@pytest.mark.parametrize("name", [*THREADS, *KNOWN])
def test_threads_are_known_or_said_to_be_unknown(said: Said, name: str, how: str) -> None:
    found = said({**THREADS, **KNOWN}[name], how)
    assert found.unknown or entries(found), found.how
    if name in KNOWN and how != "static":
        assert entries(found), found.how
        assert not found.unknown
    if found.unknown:
        assert "thread structure unknown" in found.how


@pytest.mark.parametrize("how", DYNAMIC)
@pytest.mark.parametrize("name", DYNAMIC_THREADS)
def test_so_are_those_of_code_that_is_loaded(said: Said, name: str, how: str) -> None:
    assert said(DYNAMIC_THREADS[name], how).unknown


@pytest.mark.parametrize("how", LINKED)
@pytest.mark.parametrize("name", ALONE)
def test_of_a_program_that_starts_none_nothing_else_is_said(said: Said, name: str, how: str) -> None:
    assert said(ALONE[name], how).how == "nothing in this image starts a thread"


@pytest.mark.parametrize("how", DYNAMIC)
@pytest.mark.parametrize("name", DYNAMIC_ALONE)
def test_nor_of_one_that_loads_or_names_what_starts_none(said: Said, name: str, how: str) -> None:
    assert said(DYNAMIC_ALONE[name], how).how == "nothing in this image starts a thread"


@pytest.mark.parametrize("how", DYNAMIC)
@pytest.mark.parametrize("name", MODULES)
def test_of_modules_that_a_program_loads_it_is_said_that_they_are_not_seen(said: Said, name: str, how: str) -> None:
    """Shells, linkers and interpreters do so: each would be incomplete, though hardly one runs its code on threads."""
    found = said(MODULES[name], how)
    assert found.how.startswith("nothing in this image starts a thread; what it loads (dlopen: ")
    assert not found.unknown


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_code_does_not_tell_is_unknown(said: Said, name: str) -> None:
    assert said(UNDECIDED[name], "dynamic").unknown


@pytest.mark.parametrize("name", STUBS)
def test_other_libraries_start_threads_as_well(tmp_path: Path, name: str) -> None:
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    call = STUBS[name].split("(")[0].split()[-1].lstrip("*")
    stub, source = tmp_path / "libstub.so", tmp_path / "program.c"
    (tmp_path / "stub.c").write_text(f"void {call}(void) {{}}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(stub), str(tmp_path / "stub.c")], check=True)
    source.write_text(f"{HEAD}\nint main(int n, char **v) {{ {STUBS[name]} return miss(); }}\n")
    found = structure(["gcc", "-w", "-O2", "-s", str(source), str(stub)], tmp_path)
    assert found.unknown or entries(found), found.how


# By language and linkage: the command, the program, and whether it starts threads.
SPIN = 'for (;;) { hits++; __asm__ volatile("" ::: "memory"); if (hits < 0) break; }'
CPP = f"#include <future>\n#include <thread>\nlong hits;\nvoid work() {{ {SPIN} }}\n"
MAIN = f"int main() {{ CALL {SPIN} return 0; }}\n"
RUST = """
use std::sync::atomic::{AtomicUsize, Ordering};
static HITS: AtomicUsize = AtomicUsize::new(0);
fn work() { for i in 0..1000000 { HITS.fetch_add(i, Ordering::Relaxed); } }
"""
STATIC_RUST = ("-C", "target-feature=+crt-static")
OTHERS: dict[str, tuple[tuple[str, ...], str, str, bool]] = {
    "thread": (("g++", "-O2", "-s"), ".cpp", CPP + MAIN.replace("CALL", "std::thread t(work); t.detach();"), True),
    "thread, library in it": (
        ("g++", "-O2", "-static-libstdc++", "-static-libgcc"),
        ".cpp",
        CPP + MAIN.replace("CALL", "std::thread t(work); t.detach();"),
        True,
    ),
    "jthread, static": (
        ("g++", "-std=c++20", "-O2", "-static"),
        ".cpp",
        CPP + MAIN.replace("CALL", "std::jthread t(work);"),
        True,
    ),
    "jthread, static, stripped": (
        ("g++", "-std=c++20", "-O2", "-static", "-s"),
        ".cpp",
        CPP + MAIN.replace("CALL", "std::jthread t(work);"),
        True,
    ),
    "async": (
        ("g++", "-O2", "-s"),
        ".cpp",
        CPP + MAIN.replace("CALL", "auto f = std::async(std::launch::async, work);"),
        True,
    ),
    "C++ without": (("g++", "-O2", "-s"), ".cpp", CPP + MAIN.replace("CALL", "work();"), False),
    "C++ without, static": (("g++", "-O2", "-static", "-s"), ".cpp", CPP + MAIN.replace("CALL", "work();"), False),
    "OpenMP": (
        ("gcc", "-O2", "-s", "-fopenmp"),
        ".c",
        "long hits[64];\nint main(void) {\n#pragma omp parallel for\n  for (int i = 0; i < 1000; i++) hits[i & 7]++;\n"
        "  return (int)hits[0];\n}\n",
        True,
    ),
    "musl": (
        ("musl-gcc", "-O2", "-static", "-s"),
        ".c",
        f"#include <pthread.h>\nlong hits;\nstatic void *work(void *p) {{ {SPIN} return p; }}\n"
        + MAIN.replace("CALL", "pthread_t t; pthread_create(&t, 0, work, 0);"),
        True,
    ),
    "musl without": (
        ("musl-gcc", "-O2", "-static", "-s"),
        ".c",
        "#include <spawn.h>\n#include <stdlib.h>\nlong hits;\nextern char **environ;\n"
        + MAIN.replace(
            "CALL", 'pid_t p; char *v[] = {0}; posix_spawn(&p, "/bin/true", 0, 0, v, environ); system("x");'
        ),
        False,
    ),
    "Rust": (("rustc", "-O", "-Cstrip=symbols"), ".rs", RUST + "fn main() { std::thread::spawn(work); work(); }", True),
    "Rust, static": (
        ("rustc", "-O", "-Cstrip=symbols", *STATIC_RUST),
        ".rs",
        RUST + "fn main() { std::thread::spawn(work); work(); }",
        True,
    ),
    "Rust without": (("rustc", "-O", "-Cstrip=symbols"), ".rs", RUST + "fn main() { work(); }", False),
    "Rust without, static": (
        ("rustc", "-O", "-Cstrip=symbols", *STATIC_RUST),
        ".rs",
        RUST + "fn main() { work(); }",
        False,
    ),
    "Go": (
        ("go", "build", "-ldflags=-s -w"),
        ".go",
        "package main\nvar hits int\nfunc main() { go func() { for { hits++ } }(); for hits >= 0 { hits++ } }\n",
        True,
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_programs_of_other_languages_and_c_libraries(tmp_path: Path, name: str) -> None:
    command, suffix, text, threads = OTHERS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    source, program = tmp_path / f"program{suffix}", tmp_path / "program"
    source.write_text(text)
    made = subprocess.run(
        [*command, "-o", str(program), str(source)], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert made.returncode == 0, made.stderr
    (image,) = read_images(str(program), types=False)
    found = thread_structure(image, default_knowledge(), assume_threads=False)
    if threads:
        assert found.unknown or entries(found), found.how
    else:
        assert found.how == "nothing in this image starts a thread"
