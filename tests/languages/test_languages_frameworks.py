"""Threads of frameworks, against the libraries of Debian: a pair that comes first, and the same apart.

A program of ``programs/`` is compiled once and linked with two words on one line, and with the same words on two.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from sharing.model.finding import Severity
from tests.languages.conftest import audited

PROGRAMS = Path(__file__).parent / "programs"
WORDS = """
 .bss
 .balign 64
 .globl produced, consumed, stop
 .type produced, @object
 .size produced, 8
produced: .zero {distance}
 .type consumed, @object
 .size consumed, 8
consumed: .zero {distance}
 .balign 128
 .type stop, @object
 .size stop, 4
stop: .zero 128
 .section .note.GNU-stack,"",@progbits
"""
RULES = ("independent-writers", "hot-lock-shares-line")  # of a mutex that is inlined, and of one that is called
INCLUDE, LIBRARIES = Path("/usr/include"), Path("/usr/lib/x86_64-linux-gnu")
QT, GLIB = INCLUDE / "x86_64-linux-gnu/qt5", INCLUDE / "glib-2.0"


@dataclass(frozen=True)
class Framework:
    """Programs by name; ``header`` is there where ``package`` is installed.  ``slow``: seconds of compiling."""

    programs: tuple[str, ...]
    header: Path
    package: str
    libraries: tuple[str, ...] = ()
    folders: tuple[Path, ...] = ()
    slow: bool = False


FRAMEWORKS = (
    Framework(("std_async.cpp",), INCLUDE / "c++", "g++"),
    Framework(("std_parallel.cpp", "tbb.cpp", "tbb_mutex.cpp"), INCLUDE / "tbb", "libtbb-dev", ("-ltbb",)),
    Framework(
        ("glib_thread.c", "glib_pool.c"),
        GLIB / "glib.h",
        "libglib2.0-dev",
        ("-lglib-2.0",),
        (GLIB, LIBRARIES / "glib-2.0/include"),
    ),
    Framework(
        ("boost_thread.cpp", "boost_group.cpp"),
        LIBRARIES / "libboost_thread.so",
        "libboost-thread-dev",
        ("-lboost_thread",),
        slow=True,
    ),
    Framework(
        ("qt_thread.cpp", "qt_pool.cpp", "qt_concurrent.cpp", "qt_mutex.cpp"),
        QT / "QtCore",
        "qtbase5-dev",
        ("-lQt5Concurrent", "-lQt5Core"),
        (QT, QT / "QtCore"),
        slow=True,
    ),
)


@pytest.fixture(scope="module", params=[(f, p) for f in FRAMEWORKS for p in f.programs], ids=lambda given: given[1])
def programs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the programs ``together`` and ``apart``, and ``-stripped`` of both."""
    framework, name = request.param
    if not framework.header.exists():
        pytest.skip(f"no {framework.header}: Debian's package is called {framework.package}")
    if framework.slow and not os.environ.get("LINEMATE_FRAMEWORKS"):
        pytest.skip("compiles for many seconds: set LINEMATE_FRAMEWORKS=1")
    folder = tmp_path_factory.mktemp("framework")
    compiler = ["gcc"] if name.endswith(".c") else ["g++", "-std=c++20"]
    # -w: GCC 12 warns of Qt's headers.
    run("-O2", "-fPIC", "-w", "-c", PROGRAMS / name, "-o", folder / "program.o", *include(framework), command=compiler)
    for form, distance in (("together", 8), ("apart", 128)):
        (folder / f"{form}.s").write_text(WORDS.format(distance=distance))
        program = folder / form
        run(folder / "program.o", f"{program}.s", "-o", program, "-pthread", *framework.libraries, command=compiler)
        run("-o", f"{program}-stripped", program, command=["strip"])
    return folder


def include(framework: Framework) -> list[str]:
    return [f"-I{folder}" for folder in framework.folders]


def run(*arguments: str | Path, command: list[str]) -> None:
    subprocess.run([*command, *arguments], check=True, capture_output=True)


@pytest.mark.parametrize("form", ["", "-stripped"])
def test_words_of_two_threads_come_first(programs: Path, form: str) -> None:
    first = audited(programs / f"together{form}")[0]
    assert first.rule in RULES
    assert first.severity.rank >= Severity.MEDIUM.rank
    if not form:
        assert [p.full_name for p in first.participants[:2]] == ["produced", "consumed"]


@pytest.mark.parametrize("form", ["", "-stripped"])
def test_apart_nothing_is_found(programs: Path, form: str) -> None:
    assert audited(programs / f"apart{form}") == []
