"""Packages as scripts/package builds them, each built once a run, and the wheel installed where nothing else is.

An installed linemate runs with a PATH of its own: no compiler, no Clang, no checkout.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Once

# What linemate itself runs, and what the launchers of the system need.
TOOLS = ("git", "perf", "sh", "env", "nm", "uname")


@dataclass(frozen=True)
class Installed:
    """A linemate on a PATH.  ``python`` is the interpreter that can import it."""

    command: Path
    python: Path
    site: Path
    env: dict[str, str]

    def __call__(self, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.command), *arguments], cwd=cwd, env=self.env, capture_output=True, text=True, timeout=100
        )


@pytest.fixture(scope="session")
def package(repository: Path) -> Callable[..., None]:
    """Runs scripts/package."""
    if not (repository / "build/.native-ready").exists():
        pytest.skip("no native tools: this checkout was never set up by scripts/test")

    def run(*arguments: str) -> None:
        done = subprocess.run([str(repository / "scripts/package"), *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


@pytest.fixture(scope="session")
def wheel(once: Once, package: Callable[..., None]) -> Path:
    return next(once("wheel", lambda folder: package("wheel", "-o", str(folder))).glob("*.whl"))


@pytest.fixture(scope="session")
def deb(once: Once, package: Callable[..., None], wheel: Path) -> Path:
    return next(once("deb", lambda folder: package("deb", "-o", str(folder), "-w", str(wheel))).glob("*.deb"))


@pytest.fixture(scope="session")
def bare_env(once: Once) -> dict[str, str]:
    """An environment without compilers: a PATH with few tools, a home with nothing in it."""

    def fill(folder: Path) -> None:
        (folder / "bin").mkdir()
        (folder / "home").mkdir()
        for name in TOOLS:
            found = shutil.which(name)
            if found:
                (folder / "bin" / name).symlink_to(found)

    folder = once("bare", fill)
    return {
        "PATH": str(folder / "bin"),
        "HOME": str(folder / "home"),
        "CC": "false",
        "CXX": "false",
        "LC_ALL": "C.UTF-8",
    }


@pytest.fixture(scope="session")
def installed(once: Once, repository: Path, wheel: Path, bare_env: dict[str, str]) -> Installed:
    """The wheel in a virtual environment, by pip, from ready-made wheels alone."""

    def fill(folder: Path) -> None:
        subprocess.run([sys.executable, "-I", "-m", "venv", str(folder)], check=True)
        pip = [
            str(folder / "bin/python"),
            "-I",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--only-binary=:all:",
            "--no-compile",
        ]
        kept = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}
        done = subprocess.run(
            [*pip, "-r", str(repository / "requirements.txt"), str(wheel)],
            env=bare_env | kept | {"HOME": os.environ.get("HOME", "/")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr

    folder = once("venv", fill)
    site = next(folder.glob("lib/python3*/site-packages"))
    return Installed(folder / "bin/linemate", folder / "bin/python", site, bare_env)


@pytest.fixture(scope="session")
def unpacked_deb(once: Once, deb: Path, bare_env: dict[str, str]) -> Installed:
    """The Debian package installed below a folder, by dpkg, with its scripts."""

    def fill(folder: Path) -> None:
        root = folder / "root"
        for name in ("updates", "info"):
            (root / "var/lib/dpkg" / name).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        done = dpkg(root, "--install", str(deb))
        assert done.returncode == 0, done.stderr

    root = once("deb-root", fill) / "root"
    site = root / "usr/lib/linemate/python"
    return Installed(root / "usr/bin/linemate", Path("/usr/bin/python3"), site, bare_env)


def dpkg(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """dpkg on a root of its own.  What the package depends on is the system's, which that root does not know."""
    command = ["dpkg", f"--root={root}", "--force-script-chrootless", "--force-depends", "--log=/dev/null", *arguments]
    if os.geteuid() != 0:
        if shutil.which("fakeroot") is None:
            pytest.skip("not root and no fakeroot: dpkg cannot install below a folder")
        command = ["fakeroot", *command]
    env = os.environ | {"PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}
    return subprocess.run(command, capture_output=True, text=True, env=env)
