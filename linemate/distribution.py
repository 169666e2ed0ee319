"""The distribution that runs here: where it keeps debug information of its packages, and which package a file is of.

Owns the rows of distributions.  Reads the package manager's lists and runs nothing.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path

import msgspec

from sharing.model.errors import LinemateError
from sharing.model.finding import NO_ANSWER, NOTHING_THERE
from sharing.model.inputs import read_files, read_input

_RELEASE = Path("/etc/os-release")
_LISTS = Path("/var/lib/dpkg/info")
_MAX_RELEASE_BYTES = 64 << 10
_MAX_LIST_BYTES = 32 << 20
_KERNEL = "linux-image-"  # whose debug information is a package beside it
_FILE = "--debug-file FILE (of explain --debug-old, --debug-new) names what was unpacked"
_MERGED = "/usr"  # where /bin and /lib are links to what is below it, lists may have either path


class Distribution(msgspec.Struct, frozen=True):
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
        for file, text in read_files(os.fspath(lists), files, _MAX_LIST_BYTES):
            if end in text and any(line in b"\n" + text for line in lines):
                return file.removesuffix(".list").partition(":")[0]
    except OSError:
        return ""
    return ""


def unpacked_from(path: str, lists: Path = _LISTS) -> str:
    """The Debian package whose list has the path of a file below some folder, as where it was unpacked, else ""."""
    real = os.path.realpath(path)
    at = real.find(f"{_MERGED}/", 1)
    return package_of(real[at:], lists) if at > 0 else ""


def where_names_are(path: str, *, again: str, asked: bool = False, denied: bool = False) -> str:
    """What gives a file without debug information its names, as a note.

    ``again`` is the command that would ask servers.  "" for a file that no distribution brought, but where servers were
    ``asked`` in vain: then what else there is.  ``denied``: one of them answered that it has nothing.
    """
    here = distribution()
    package = package_of(path) or unpacked_from(path)
    archive = f" (of {here.archive})" if here.archive else ""
    install = ""
    if package:
        debug = f"{package}-dbg" if package.startswith(_KERNEL) else f"{package}-dbgsym"
        install = f"apt install {debug}{'' if package.startswith(_KERNEL) else archive}" if archive else ""
    if asked:
        there = install or f"the debug package of its distribution{archive}"
        said = NOTHING_THERE if denied else f"no debug information, and {NO_ANSWER}"
        return f"{said}: {there} has it, in the very same version; {_FILE}"
    ours = f"{_MERGED}/" not in os.path.realpath(path)
    if not package and (ours or (_LISTS.is_dir() and os.path.realpath(path).startswith(f"{_MERGED}/"))):
        return ""
    note = f"no debug information: `{again}` fetches it from {here.debuginfod}"
    return f"{note}, or: {install}" if install else note


@functools.cache
def _fields(release: Path) -> dict[str, str]:
    try:
        text = read_input(release, _MAX_RELEASE_BYTES).decode("utf-8", "replace")
    except (LinemateError, OSError):
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value.strip().strip("\"'") for name, _, value in pairs if value}
