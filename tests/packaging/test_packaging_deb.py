"""The Debian package: what it says of itself, and that dpkg can install, run and remove it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.packaging.conftest import Installed, dpkg


@pytest.fixture(scope="module")
def fields(deb: Path) -> dict[str, str]:
    shown = subprocess.run(["dpkg-deb", "--field", str(deb)], capture_output=True, text=True, check=True).stdout
    return dict(line.split(": ", 1) for line in shown.splitlines() if re.match(r"[A-Z][\w-]*: ", line))


def test_it_depends_on_what_its_libraries_were_compiled_for(fields: dict[str, str]) -> None:
    major, minor = sys.version_info[:2]
    assert f"python3 (>= {major}.{minor}), python3 (<< {major}.{minor + 1}~), libc6 (>= 2." in fields["Depends"]
    machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    assert fields["Architecture"] == machine.stdout.strip()


def test_it_puts_files_into_its_own_folders_alone(deb: Path) -> None:
    listed = subprocess.run(["dpkg-deb", "--contents", str(deb)], capture_output=True, text=True, check=True).stdout
    files = sorted(line.split()[5] for line in listed.splitlines() if not line.startswith("d"))
    own = ("./usr/lib/linemate/", "./usr/share/doc/linemate/", "./usr/share/man/man1/linemate")
    assert [name for name in files if not name.startswith(own)] == [
        "./usr/bin/linemate",
        "./usr/share/bash-completion/completions/linemate",
        "./usr/share/cmake/linemate/linemateConfig.cmake",
        "./usr/share/fish/vendor_completions.d/linemate.fish",
        "./usr/share/zsh/site-functions/_linemate",
    ]
    assert "./usr/share/man/man1/linemate-audit.1.gz" in files
    assert {line.split()[1] for line in listed.splitlines()} == {"root/root"}


def test_every_file_has_its_checksum(unpacked_deb: Installed) -> None:
    root = unpacked_deb.command.parents[2]
    sums = root / "var/lib/dpkg/info/linemate.md5sums"
    done = subprocess.run(["md5sum", "--check", "--quiet", str(sums)], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_what_it_installs_works(unpacked_deb: Installed, layouts: Path) -> None:
    done = unpacked_deb("audit", "slow", cwd=layouts)
    assert done.returncode == 1, done.stderr
    assert "hot-lock-shares-line" in done.stdout
    done = unpacked_deb("check", "--no-cache", "table_cache.cc", "--", "-O2", cwd=layouts)
    assert done.returncode in (0, 1), done.stderr


def test_nothing_outside_of_it_is_imported(unpacked_deb: Installed, tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text("raise SystemExit('hijacked')\n")
    env = unpacked_deb.env | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([str(unpacked_deb.command), "rules"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_it_is_compiled_when_it_is_installed(unpacked_deb: Installed) -> None:
    """Only root can write there: without this, every start would compile everything again."""
    assert list((unpacked_deb.site / "linemate/__pycache__").glob("api.*.pyc"))


def test_its_removal_leaves_nothing(deb: Path, tmp_path: Path, once: Callable[..., Path]) -> None:
    root = tmp_path / "root"
    for name in ("updates", "info"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    done = dpkg(root, "--unpack", str(deb))
    assert done.returncode == 0, done.stderr
    made = root / "usr/lib/linemate/python/linemate/__pycache__"
    made.mkdir()
    (made / "api.cpython-311.pyc").touch()  # as the first start of root leaves it
    done = dpkg(root, "--remove", "linemate")
    assert done.returncode == 0, done.stderr
    assert [str(path) for path in root.rglob("*linemate*") if "var/lib/dpkg" not in str(path)] == []
