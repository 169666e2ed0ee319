"""Makes a Debian package of a wheel: the wheel and what it needs in a folder of its own, one command on the PATH.

Owns what stands where below ``/usr`` and what the package says of itself.  Debian 12 has older versions of most
libraries than linemate wants, so they come along; they are compiled for one version of Python, and the package depends
on it.

Called by scripts/package: ``debian.py WHEEL REQUIREMENTS FOLDER`` writes ``FOLDER/deb/linemate_VERSION_ARCH.deb``.
"""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from glibc import oldest_that_runs

ROOT = Path(__file__).resolve().parent.parent

LAUNCHER = """\
#!/usr/bin/python3 -IS
# Neither the environment nor the site's packages: only what this package brought, beside this file.
import _signal
import os
import sys

if _signal.getsignal(2) is _signal.default_int_handler:
    _signal.signal(2, lambda *_: os._exit(130))  # Ctrl-C while the first modules are imported

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "python"))

from linemate.__main__ import main

main()
"""

CONTROL = """\
Package: linemate
Version: {version}
Architecture: {architecture}
Maintainer: The linemate developers <linemate@localhost>
Installed-Size: {installed_kib}
Depends: python3 (>= {python}), python3 (<< {python_after}~), libc6 (>= {glibc})
Recommends: git, linux-perf
Section: devel
Priority: optional
Description: finds the variables that share a cache line and should not
 Reads any ELF file, the sources of a C or C++ program, and profiles of it, and
 says which variables share a cache line, who touches them from which threads,
 and which edit keeps them apart.
"""

POSTINST = """\
#!/bin/sh
set -e
if [ "$1" = configure ]; then
  /usr/bin/python3 -I -m compileall -q "$DPKG_ROOT/usr/lib/linemate/python"
fi
"""

# What was unpacked and never configured is removed without its prerm, and may have been started once.
POSTRM = """\
#!/bin/sh
set -e
if [ "$1" = remove ]; then
  rm -rf "$DPKG_ROOT/usr/lib/linemate"
fi
"""

PRERM = """\
#!/bin/sh
set -e
find "$DPKG_ROOT/usr/lib/linemate/python" -name __pycache__ -type d -prune -exec rm -rf {} +
"""


def build(wheel: Path, requirements: Path, work: Path) -> Path:
    """The package of a wheel.  Works in ``work/deb``, which is emptied first."""
    folder = work / "deb"
    shutil.rmtree(folder, ignore_errors=True)
    tree = folder / "tree"
    _install(wheel, requirements, tree / "usr/lib/linemate/python")
    _write(tree / "usr/lib/linemate/linemate", LAUNCHER, 0o755)
    shutil.move(tree / "usr/lib/linemate/python/share", tree / "usr/share")
    for page in (tree / "usr/share/man/man1").iterdir():
        page.with_name(f"{page.name}.gz").write_bytes(gzip.compress(page.read_bytes(), mtime=0))
        page.unlink()
    (tree / "usr/bin").mkdir()
    (tree / "usr/bin/linemate").symlink_to("../lib/linemate/linemate")
    _document(tree / "usr/share/doc/linemate")
    version = wheel.name.split("-")[1]
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    _describe(tree, version, architecture.stdout.strip())
    out = folder / f"linemate_{version}_{architecture.stdout.strip()}.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zzstd", "-z10", "--build", str(tree), str(out)], check=True)
    return out


def _install(wheel: Path, requirements: Path, target: Path) -> None:
    target.parent.mkdir(parents=True)
    options = ["--quiet", "--disable-pip-version-check", "--no-compile", "--only-binary=:all:", "--target", str(target)]
    command = [sys.executable, "-I", "-m", "pip", "install", *options, "-r", str(requirements), str(wheel)]
    subprocess.run(command, check=True)
    shutil.rmtree(target / "bin", ignore_errors=True)
    # Libraries carry their own tests, a tenth of the whole.
    for tests in [path for path in target.glob("*/**/tests") if path.is_dir()]:
        shutil.rmtree(tests, ignore_errors=True)


def _document(target: Path) -> None:
    target.mkdir(parents=True)
    shutil.copy(ROOT / "README.md", target)
    shutil.copytree(ROOT / "docs", target / "docs")
    _write(target / "copyright", (ROOT / "LICENSE").read_text())
    (target / "changelog.gz").write_bytes(gzip.compress((ROOT / "CHANGELOG.md").read_bytes(), mtime=0))


def _describe(tree: Path, version: str, architecture: str) -> None:
    files = sorted(path for path in tree.rglob("*") if path.is_file() and not path.is_symlink())
    sums = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(tree)}\n" for path in files]
    major, minor = sys.version_info[:2]
    control = CONTROL.format(
        version=version,
        architecture=architecture,
        installed_kib=sum(-(-path.stat().st_size // 1024) for path in files),
        python=f"{major}.{minor}",
        python_after=f"{major}.{minor + 1}",
        glibc="{}.{}".format(*oldest_that_runs(path for path in files if path.read_bytes()[:4] == b"\x7fELF")),
    )
    _write(tree / "DEBIAN/control", control)
    _write(tree / "DEBIAN/md5sums", "".join(sums))
    _write(tree / "DEBIAN/postinst", POSTINST, 0o755)
    _write(tree / "DEBIAN/prerm", PRERM, 0o755)
    _write(tree / "DEBIAN/postrm", POSTRM, 0o755)


def _write(path: Path, text: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)


if __name__ == "__main__":
    print(build(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])))
