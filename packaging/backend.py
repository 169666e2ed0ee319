"""The build backend: scikit-build-core, with all packages of the repository below ``linemate``.

Owns what a wheel is made of: a copy of the Python packages whose imports are moved, what CMake installs, and the tag
that says which C library the native tools need.  The wheel itself is scikit-build-core's work.

Config settings: ``prebuilt=DIR`` takes the native tools from a build folder instead of compiling them.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from glibc import oldest_that_runs
from relocating import moved
from scikit_build_core import build as _build
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
)

__all__ = [
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

ROOT = Path(__file__).resolve().parent.parent
STAGED = ROOT / "build" / "package" / "linemate"  # pyproject.toml names it
DOCUMENTED = STAGED.parent  # CMakeLists.txt names its folder share
PARENT = "linemate"
MOVED = ("analyzer", "elfscan", "pmu", "reports", "sharing")
_NATIVE = ("*.c", "*.cpp", "*.h", "CMakeLists.txt", "__pycache__")

Settings = dict[str, list[str] | str] | None


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    settings = dict(config_settings or {})
    prebuilt = settings.pop("prebuilt", None)
    if isinstance(prebuilt, str):
        folder = Path(prebuilt).resolve()
        settings["cmake.define.LINEMATE_PREBUILT"] = str(folder)
        settings["build-dir"] = "build/package/cmake"
        settings["wheel.tags"] = f"py3-none-{platform_tag((folder / 'bin').iterdir())}"
    stage(STAGED)
    # Where the commands can be imported: in a process of its own, since the backend's packages are others'.
    shutil.rmtree(DOCUMENTED / "share", ignore_errors=True)
    maker = Path(__file__).with_name("fromcommands.py")
    subprocess.run([sys.executable, "-I", str(maker), str(DOCUMENTED)], check=True)
    return _build.build_wheel(wheel_directory, settings, metadata_directory)


def stage(target: Path) -> None:
    """The package as it is installed, without the native tools."""
    shutil.rmtree(target, ignore_errors=True)
    ignored = shutil.ignore_patterns(*_NATIVE)
    shutil.copytree(ROOT / PARENT, target, ignore=ignored)
    for package in MOVED:
        shutil.copytree(ROOT / package, target / package, ignore=ignored)
    for path in target.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        path.write_text(moved(text, str(path.relative_to(target)), MOVED, PARENT), encoding="utf-8")
    # Bottom up: what held nothing but native sources.
    for folder in sorted((path for path in target.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def platform_tag(files: Iterable[Path]) -> str:
    """The oldest C library that the files run on, as a platform tag: ``manylinux_2_34_x86_64``."""
    major, minor = oldest_that_runs(files)
    return f"manylinux_{major}_{minor}_{platform.machine()}"
