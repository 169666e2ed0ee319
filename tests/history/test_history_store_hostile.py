"""What lies beside a store, or hides in it, has no effect on anything but the store."""

from __future__ import annotations

import os
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from linemate.history import store as history_store
from linemate.history.store import Store
from sharing.model.errors import LinemateError

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR_BYTES = 512
LOCK_BYTE = 1 << 30


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    Store(str(path)).close()
    return path


def journal_of(store: Path, named: Path | None) -> bytes:
    """A rollback journal of nothing (www.sqlite.org/fileformat.html, 3), which may name a super-journal."""
    page = int.from_bytes(store.read_bytes()[16:18], "big")
    head = JOURNAL_MAGIC + struct.pack(">IIIII", 0, 0, store.stat().st_size // page, SECTOR_BYTES, page)
    if named is None:
        return head.ljust(SECTOR_BYTES, b"\0")
    name = os.fsencode(named)
    tail = struct.pack(">I", LOCK_BYTE // page + 1) + name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    return head.ljust(SECTOR_BYTES, b"\0") + tail


def test_a_journal_that_names_a_file_of_the_user_does_not_remove_it(store: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept\n")
    journal = Path(f"{store}-journal")
    journal.write_bytes(journal_of(store, precious))
    with pytest.raises(LinemateError, match=r"offset 0x.*: belongs to several databases"):
        Store(str(store))
    assert precious.read_text() == "kept\n"
    # Also where the store is reached through a link: the journal lies beside the file itself.
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.parent.mkdir()
    link.symlink_to(store)
    with pytest.raises(LinemateError, match="belongs to several databases"):
        Store(str(link))
    assert precious.read_text() == "kept\n"


def test_that_journal_would_remove_the_file(store: Path, tmp_path: Path) -> None:
    """Else the test above could not fail: SQLite itself follows the name."""
    precious = tmp_path / "precious"
    precious.write_text("kept\n")
    Path(f"{store}-journal").write_bytes(journal_of(store, precious))
    with closing(sqlite3.connect(store)) as database:
        database.execute("SELECT * FROM build").fetchall()
    assert not precious.exists()


def test_what_a_run_left_unfinished_is_taken_back(store: Path) -> None:
    """A journal of a run that was killed names no other: it is used, and gone."""
    script = (
        "import os, sqlite3, sys\n"
        "database = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "database.execute('PRAGMA cache_size = 1')\n"
        "database.execute('BEGIN IMMEDIATE')\n"
        "for n in range(500):\n"
        "    database.execute('INSERT INTO layout VALUES (?, ?, ?)', (f'd{n}', 'm', 'x' * 500))\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(store)], check=True, timeout=60)
    journal = Path(f"{store}-journal")
    assert journal.stat().st_size > SECTOR_BYTES
    with closing(Store(str(store))) as opened:
        assert opened.layout("d1", "m") is None
    assert not journal.exists()


def test_a_journal_that_is_no_file_is_refused(store: Path, tmp_path: Path) -> None:
    Path(f"{store}-journal").symlink_to(tmp_path / "target")
    with pytest.raises(LinemateError, match="is no file"):
        Store(str(store))


def test_a_store_in_write_ahead_mode_is_refused_and_gets_no_files_beside_it(store: Path) -> None:
    data = bytearray(store.read_bytes())
    data[18:20] = b"\2\2"
    store.write_bytes(data)
    with pytest.raises(LinemateError, match="offset 0x12"):
        Store(str(store))
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_a_trigger_that_is_called_like_an_index_of_sqlite_is_refused(store: Path) -> None:
    with closing(sqlite3.connect(store)) as database:
        database.execute("CREATE TRIGGER t AFTER INSERT ON build BEGIN DELETE FROM measured; END")
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET name = 'sqlite_autoindex_t' WHERE name = 't'")
        database.commit()
    with pytest.raises(LinemateError, match=r"not those of a history|malformed"):
        Store(str(store))


def test_a_file_that_comes_to_its_place_after_the_look_is_asked_again(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schema and version are ours, and still it is somebody's."""
    other = tmp_path / "other.sqlite"
    other.write_bytes(store.read_bytes())
    with closing(sqlite3.connect(other)) as database:
        database.execute("PRAGMA application_id = 7")
    looked = history_store._check_or_create

    def exchanged(path: Path) -> None:
        looked(path)
        other.rename(path)

    monkeypatch.setattr(history_store, "_check_or_create", exchanged)
    with pytest.raises(LinemateError, match="is not a history of linemate"):
        Store(str(store))
