"""The distribution that runs here: where it keeps debug information of its packages, and which package a file is of.

Owns the rows of distributions, and the advice where to look.  Reads the package manager's lists and runs nothing.  That
an archive has the debug package of a version is not known here, and never said.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from elfscan.debug.debugfile import build_id_file
from sharing.model.errors import LinemateError
from sharing.model.finding import NO_ANSWER, NOTHING_THERE
from sharing.model.inputs import read_files, read_input

_KNOWN = Path("/var/lib/apt/lists")
_STATUS = Path("/var/lib/dpkg/status")
_RELEASE = Path("/etc/os-release")
_LISTS = Path("/var/lib/dpkg/info")
_MAX_RELEASE_BYTES = 64 << 10
_MAX_LIST_BYTES = 32 << 20
_MAX_PACKAGES_BYTES = 256 << 20  # of all packages of an archive: Debian's main has 50 MB
_KERNEL = "linux-image-"  # whose debug information is a package beside it
_FILE = "--debug-file FILE (of explain --debug-old, --debug-new) names what was unpacked"
DEBUG_ROOT = "/usr/lib/debug"  # below it debug packages have their files
_MERGED = "/usr"  # where /bin and /lib are links to what is below it, lists may have either path


class Distribution(msgspec.Struct, frozen=True):
    """``debuginfod`` is its server, ``archive`` the apt source of debug packages; "{}" in it is the release's name.

    ``updates`` is the source of those of security updates, where that is another one.
    """

    debuginfod: str
    archive: str = ""
    updates: str = ""


_ROWS = {
    "debian": Distribution(
        "https://debuginfod.debian.net",
        "deb http://deb.debian.org/debian-debug {}-debug main",
        "deb http://deb.debian.org/debian-security-debug {}-security-debug main",
    ),
    "ubuntu": Distribution(
        "https://debuginfod.ubuntu.com",
        "deb http://ddebs.ubuntu.com {} main universe",
        "deb http://ddebs.ubuntu.com {}-updates main universe",
    ),
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
            release_name = fields.get("VERSION_CODENAME", "RELEASE")
            return Distribution(row.debuginfod, row.archive.format(release_name), row.updates.format(release_name))
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


def version_of(package: str, status: Path = _STATUS) -> str:
    """The version of a Debian package that is installed, "" where none is."""
    return next(iter(_versions(status, package)), "")


def security_update(package: str, version: str, known: Path = _KNOWN) -> bool | None:
    """Whether the archive of security updates alone has that version, as far as apt's lists say; None: they do not."""
    found = {
        "-security" in file.name for file in sorted(known.glob("*_Packages")) if version in _versions(file, package)
    }
    return None if not found else found == {True}


def _versions(packages: Path, package: str) -> tuple[str, ...]:
    """The versions of a package in a list of apt or dpkg: paragraphs of fields."""
    try:
        text = b"\n" + read_input(packages, _MAX_PACKAGES_BYTES)
    except (LinemateError, OSError):
        return ()
    out, at = [], 0
    begin = f"\nPackage: {package}\n".encode(errors="surrogateescape")
    while (at := text.find(begin, at)) >= 0:
        end = text.find(b"\n\n", at)
        paragraph = text[at : end if end >= 0 else len(text)]
        out += [
            line[9:].decode("utf-8", "replace").strip() for line in paragraph.split(b"\n") if line[:9] == b"Version: "
        ]
        at += len(begin)
    return tuple(out)


def where_names_are(
    path: str, *, again: str, asked: bool = False, denied: bool = False, then: str = "", several: bool = False
) -> str:
    """What gives a file without debug information its names, as a note.

    ``again`` is the command that would ask servers.  "" for a file that no distribution brought, but where servers were
    ``asked`` in vain: then what else there is.  ``denied``: one of them answered that it has nothing.  ``then`` are the
    options that name what was unpacked; ``several`` versions of a package are wanted, of which one can be installed.
    """
    here = distribution()
    installed = package_of(path)
    package = installed or unpacked_from(path)
    look = _where_to_look(here, package, version_of(installed) if installed else "", then, several=several)
    if asked:
        said = NOTHING_THERE if denied else f"no debug information, and {NO_ANSWER}"
        if not look:
            sources = f" ({_sources(here, None)})" if here.archive else ""
            return f"{said}: look for the debug package of its distribution{sources}; {_FILE}"
        return f"{said}: {look}" if then and then in look else f"{said}: {look}; {_FILE}"
    ours = f"{_MERGED}/" not in os.path.realpath(path)
    if not package and (ours or (_LISTS.is_dir() and os.path.realpath(path).startswith(f"{_MERGED}/"))):
        return ""
    note = f"no debug information: `{again}` fetches it from {here.debuginfod}"
    return f"{note}, or: {look}" if look else note


def unpacked_as(option: str, folder: str, build_id: str) -> str:
    """The option that names the file of a debug package that was unpacked into a folder."""
    file = build_id_file(f"{folder}{DEBUG_ROOT}", build_id) if build_id else f"{folder}{DEBUG_ROOT}/…"
    return f"{option} {file}"


def are_of_packages(paths: Iterable[str]) -> int:
    """How many of the files some package brought, here or where it was unpacked."""
    return sum(bool(package_of(path) or unpacked_from(path)) for path in paths)


def _where_to_look(here: Distribution, package: str, version: str, then: str, *, several: bool) -> str:
    """How to get the debug package of exactly that version, if there is one; "" where nobody knows its name."""
    if not package or not here.archive:
        return ""
    if package.startswith(_KERNEL):
        return f"apt install {package}-dbg"
    debug = f"{package}-dbgsym"
    security = security_update(package, version) if version else None
    needs = f"look for it in {_sources(here, security)}: a line for apt's sources, then apt-get update"
    if version and not several:
        return f"apt install {debug}={version} ({needs})"
    each = "of each version, as two cannot be installed at once, " if several else ""
    unpack = f"{each}apt-get download {debug}=VERSION and dpkg-deb -x {debug}_*.deb FOLDER"
    return f"{unpack}{f', then {then}' if then else ''} ({needs})"


def _sources(here: Distribution, security: bool | None) -> str:
    """The lines of apt's sources that may have a debug package.  ``security``: of a security update; None: unknown."""
    if security is None and here.updates:
        return f"{here.archive}, for security updates {here.updates}"
    return here.updates if security and here.updates else here.archive


@functools.cache
def _fields(release: Path) -> dict[str, str]:
    try:
        text = read_input(release, _MAX_RELEASE_BYTES).decode("utf-8", "replace")
    except (LinemateError, OSError):
        return {}
    pairs = (line.partition("=") for line in text.splitlines())
    return {name: value.strip().strip("\"'") for name, _, value in pairs if value}
