"""Where the benchmarks find linemate, its peers and the binaries they read.

Owns the search and its reasons; a thing that is not here is ``Unavailable`` with what to install.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from bench.measure import Unavailable, run

REPOSITORY = Path(__file__).resolve().parent.parent
WORK = REPOSITORY / "build" / "bench"
# An audit exits with 1 where findings reach --fail-on.
AUDIT_EXITS = frozenset({0, 1})


def linemate(*args: str) -> list[str]:
    """The command line of this checkout's linemate, without the launcher."""
    return [sys.executable, "-I", "-m", "linemate", *args]


def audit(binary: Path) -> list[str]:
    """The command line of an audit with its whole report."""
    command = linemate("audit", str(binary))
    done = run(command)
    if done.returncode not in AUDIT_EXITS:
        reason = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise Unavailable(f"the audit of {binary.name} does not run: {reason}")
    return command


def tool(name: str, package: str) -> str:
    """A peer by name."""
    found = shutil.which(name)
    if not found:
        raise Unavailable(f"no {name}: install Debian's {package}")
    return found


def mariadbd() -> Path:
    """Debian's MariaDB server, from the corpus of the tests or the system."""
    for root in (Path(os.environ.get("LINEMATE_CORPUS", REPOSITORY / "build" / "corpus")), Path("/")):
        if (root / "usr/sbin/mariadbd").is_file():
            return root / "usr/sbin/mariadbd"
    raise Unavailable("no mariadbd: install Debian's mariadb-server-core")


def vmlinux() -> Path:
    """The newest kernel image with debug information."""
    found = sorted(Path("/usr/lib/debug/boot").glob("vmlinux-*"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise Unavailable("no vmlinux: install Debian's linux-image-amd64-dbg")
    return found[-1]
