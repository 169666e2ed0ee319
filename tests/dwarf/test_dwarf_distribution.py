"""Where to look for a debug package: the archive of its version, the steps, and no promise that it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from linemate import distribution
from linemate.distribution import distribution as of_release
from linemate.distribution import security_update, unpacked_as, version_of, where_names_are

DEBUG, SECURITY = "debian-debug bookworm-debug", "debian-security-debug bookworm-security-debug"


def paragraph(name: str, version: str) -> str:
    return f"Package: {name}\nSource: other\nVersion: {version}\nDescription: a server\n Version: of text\n\n"


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Debian of its own that has installed served 1:2.0-1+deb12u1, and knows what its archives have."""
    info, known = tmp_path / "info", tmp_path / "lists"
    info.mkdir()
    known.mkdir()
    (info / "served.list").write_text("/.\n/usr/sbin/served\n")
    (info / "calm.list").write_text("/.\n/usr/sbin/calm\n")
    (tmp_path / "status").write_text(paragraph("served-core", "9") + paragraph("served", "1:2.0-1+deb12u1"))
    main = paragraph("served", "1:1.9-1") + paragraph("served-core", "1:2.0-1+deb12u1") + paragraph("calm", "3-1")
    (known / "deb.debian.org_debian_dists_bookworm_main_binary-amd64_Packages").write_text(main)
    updates = paragraph("served", "1:2.0-1+deb12u1") + paragraph("calm", "3-1")
    (known / "deb.debian.org_debian-security_dists_bookworm-security_main_binary-amd64_Packages").write_text(updates)
    (tmp_path / "os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    here = of_release(tmp_path / "os-release")
    monkeypatch.setattr(distribution, "distribution", lambda: here)
    for name, where in (("package_of", "usr/sbin"), ("unpacked_from", "unpacked/usr/sbin")):
        inside = tmp_path / where
        inside.mkdir(parents=True)
        (inside / "served").write_text("")
        monkeypatch.setattr(
            distribution, name, lambda path, inside=inside: "served" * Path(path).is_relative_to(inside)
        )
    monkeypatch.setattr(distribution, "version_of", lambda package: version_of(package, tmp_path / "status"))
    monkeypatch.setattr(
        distribution, "security_update", lambda package, version: security_update(package, version, known)
    )
    return tmp_path


@pytest.mark.parametrize(
    ("package", "version", "said"),
    [
        ("served", "1:2.0-1+deb12u1", True),
        ("served", "1:1.9-1", False),
        ("served", "1:2.1-1", None),
        ("served", "of text", None),
        ("calm", "3-1", False),
        ("other", "1:2.0-1+deb12u1", None),
    ],
    ids=["security", "main", "unknown", "prose", "in both", "no package"],
)
def test_apts_lists_say_of_which_archive_a_version_is(debian: Path, package: str, version: str, said: bool) -> None:
    assert security_update(package, version, debian / "lists") is said


def test_the_version_that_is_installed_is_that_of_the_package_of_exactly_that_name(debian: Path) -> None:
    assert version_of("served", debian / "status") == "1:2.0-1+deb12u1"
    assert version_of("serve", debian / "status") == ""
    assert version_of("served", debian / "nowhere") == ""


@pytest.mark.parametrize("asked", [False, True])
def test_of_a_security_update_that_is_installed_its_version_and_its_archive_are_named(
    debian: Path, asked: bool
) -> None:
    found = where_names_are(str(debian / "usr/sbin/served"), again="linemate audit", asked=asked)
    assert "apt install served-dbgsym=1:2.0-1+deb12u1 (look for it in " in found
    assert SECURITY in found
    assert DEBUG not in found
    assert "apt-get update" in found
    assert "has it" not in found


@pytest.mark.parametrize("asked", [False, True])
def test_of_two_versions_each_is_downloaded_and_unpacked_and_its_file_named(debian: Path, asked: bool) -> None:
    then = unpacked_as("--debug-old", "OLD", "abcdef0123")
    found = where_names_are(
        str(debian / "unpacked/usr/sbin/served"), again="linemate explain", asked=asked, then=then, several=True
    )
    assert "apt install" not in found
    assert "apt-get download served-dbgsym=VERSION and dpkg-deb -x served-dbgsym_*.deb FOLDER" in found
    assert "--debug-old OLD/usr/lib/debug/.build-id/ab/cdef0123.debug" in found
    assert "two cannot be installed at once" in found
    assert DEBUG in found
    assert SECURITY in found  # nobody knows the version of an unpacked file


def test_ubuntu_and_those_without_an_archive_of_updates_name_what_they_have(
    debian: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for release, said in (("ID=ubuntu\nVERSION_CODENAME=noble\n", "noble-updates main"), ("ID=fedora\n", "")):
        (debian / "os-release").write_text(release)
        distribution._fields.cache_clear()
        here = of_release(debian / "os-release")
        monkeypatch.setattr(distribution, "distribution", lambda here=here: here)
        found = where_names_are(str(debian / "unpacked/usr/sbin/served"), again="linemate audit")
        assert ("dbgsym" in found) == bool(said)
        assert said in found
