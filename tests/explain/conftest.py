"""Programs built for comparisons: the three layouts of table_cache and variations of it, each built once."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from elfscan.debug.demangle import demangle
from elfscan.image import read_images
from elfscan.traits import read_traits
from sharing.explain.compare import ExplainOptions, explain
from sharing.knowledge import default_knowledge
from sharing.model import Image
from sharing.model.comparison import Comparison

PROGRAM = "testdata/programs/table_cache"
UNITS = ("table_share", "sys_vars", "table_cache", "main")
BuildTableCache = Callable[..., Path]
Explain = Callable[[Path, Path], Comparison]


def read(path: Path) -> Image:
    return next(iter(read_images(str(path))))


@pytest.fixture(scope="session")
def table_cache(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> BuildTableCache:
    """``table_cache("-DEXTRA_SYSVAR", compiler="g++", flags="-O2 -g", edit={"main.cc": (old, new)}, link=...)``."""
    done: dict[str, Path] = {}

    def build(
        *defines: str,
        compiler: str = "g++",
        flags: str = "-O2 -g",
        edit: dict[str, tuple[str, str]] | None = None,
        link: str = "",
    ) -> Path:
        key = repr((defines, compiler, flags, sorted((edit or {}).items()), link))
        if key not in done:
            if shutil.which(compiler) is None:
                pytest.skip(f"{compiler} is not installed")
            folder = tmp_path_factory.mktemp("table_cache")
            shutil.copytree(repository / PROGRAM, folder / "src")
            for name, (old, new) in (edit or {}).items():
                text = (folder / "src" / name).read_text()
                assert text.count(old) == 1, f"{name} has to hold {old!r} once"
                (folder / "src" / name).write_text(text.replace(old, new))
            common = [*flags.split(), "-std=c++17", "-fno-rtti", "-fno-exceptions", "-pthread", *defines]
            sources = [f"src/{unit}.cc" for unit in UNITS]
            command = [compiler, *common, "-o", "program", *sources, *link.split()]
            made = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
            assert made.returncode == 0, made.stderr
            done[key] = folder / "program"
        return done[key]

    return build


@pytest.fixture(scope="session")
def explained() -> Explain:
    """The comparison of two files, each pair once."""
    done: dict[tuple[Path, Path], Comparison] = {}

    def run(old: Path, new: Path) -> Comparison:
        if (old, new) not in done:
            done[old, new] = explain(
                read(old),
                read(new),
                default_knowledge(),
                ExplainOptions(demangle=demangle),
                read_traits(str(old)),
                read_traits(str(new)),
            )
        return done[old, new]

    return run
