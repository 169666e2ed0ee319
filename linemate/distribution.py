"""The distribution that runs here: where it keeps debug information of its packages, and which package a file is of.

Owns the rows of distributions.  Reads the package manager's lists and runs nothing.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path

from sharing.model.errors import LinemateError
from sharing.model.inputs import read_input

_RELEASE = Path("/etc/os-release")
_LISTS = Path("/var/lib/dpkg/info")
_MAX_RELEASE_BYTES = 64 << 10
_MAX_LIST_BYTES = 32 << 20
_KERNEL = "linux-image-"  # whose debug information is a package beside it
_MERGED = "/usr"  # where /bin and /lib are links to what is below it, lists may have either path


@dataclass(frozen=True, slots=True)
class Distribution:
    """``debuginfod`` is its server, ``archive`` the apt source of debug packages; "{}" in it is the release's name."""

    debuginfod: str
    archive: str = ""


_ROWS = {
    "debian": Distribution("https://debuginfod.debian.net", "deb http://deb.debian.org/debian-debug {}-debug main"),
    "ubuntu": Distribution("https://debuginfod.ubuntu.com", "deb http://ddebs.ubuntu.com {} main universe"),
    "fedora": Distribution("https://debuginfod.fedoraproject.org"),
    "arch": Distribution("https://debuginfod.archlinux.org"),
    "opensuse": Distribution("https://debuginfod.opensuse.org"),
}
_OTHER = Distribution("https://debuginfod.elfutils.org")  # asks those of all distributions


def distribution(release: Path = _RELEASE) -> Distribution:
    """By ``/etc/os-release``, else by what that is like."""
    fields = _fields(release)
    for name in (fields.get("ID", ""), *fields.get("ID_LIKE", "").split()):
        if name in _ROWS:
            row = _ROWS[name]
            return Distribution(row.debuginfod, row.archive.format(fields.get("VERSION_CODENAME", "RELEASE")))
    return _OTHER


def package_of(path: str, lists: Path = _LISTS) -> str:
    """The Debian package that brought a file, "" where none did."""
    real = os.path.realpath(path)
    short = real.removeprefix(_MERGED) if real.startswith(f"{_MERGED}/") else real
    end = f"{short}\n".encode(errors="surrogateescape")  # of the line with either path: one search a list
    lines = [f"\n{name}\n".encode(errors="surrogateescape") for name in (real, short)]
    try:
        files = sorted(name for name in os.listdir(lists) if name.endswith(".list"))
    except OSError:
        return ""
    folder = os.fspath(lists)
    for file in files:
        try:
            text = read_input(f"{folder}/{file}", _MAX_LIST_BYTES)
        except (LinemateError, OSError):
            continue
        if end in text and any(line in b"\n" + text for line in lines):
            return file.removesuffix(".list").partition(":")[0]
    return ""


def where_names_are(path: str, *, asked: bool = False) -> str:
    """What gives a file without debug information its names, as a note.

    "" for a file that no distribution brought, but where servers were ``asked`` in vain: then what else there is.
    """
    package = package_of(path)
    here = distribution()
    if not package and asked:
        of = f" (of {here.archive})" if here.archive else ""
        package = f"PACKAGE-dbgsym{of} of the very same version"
        return f"no debug information: the package {package} has it; --debug-file FILE names what was unpacked"
    if not package and (_LISTS.is_dir() or not os.path.realpath(path).startswith(f"{_MERGED}/")):
        return ""
    note = f"no debug information: --debuginfod fetches it from {here.debuginfod}"
    if package.startswith(_KERNEL):
        return f"{note}, or: apt install {package}-dbg"
    return f"{note}, or: apt install {package}-dbgsym (of {here.archive})" if package and here.archive else note


@functools.cache
def _fields(release: Path) -> dict[str, str]:
    try:
        text = read_input(release, _MAX_RELEASE_BYTES).decode("utf-8", "replace")
    except (LinemateError, OSError):
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value.strip().strip("\"'") for name, _, value in pairs if value}
