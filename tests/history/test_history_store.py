"""The store: extended by later runs, refused where it is another's, and never believed."""

from __future__ import annotations

import contextlib
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linemate.cli import main
from linemate.history.store import APPLICATION_ID, BuildRow, MeasuredRow, Store
from sharing.model.errors import LinemateError
from tests.history.conftest import COPY, Repository

BUILD = BuildRow("key", "tree", "make", "server", "gcc 12", False, "", "log", "digest")
RUN = MeasuredRow("key", "8", 0, 1234.5, False, 0, "session")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite"


def filled(path: Path) -> None:
    with closing(Store(str(path))) as store:
        store.put_build(BUILD)
        store.put_layout("digest", "maker", "{}")
        store.put_comparison("old", "new", "maker", "[]")
        store.put_measured("bench", "qps", RUN)


def test_what_is_put_is_there_after_a_reopening(path: Path) -> None:
    filled(path)
    with closing(Store(str(path))) as store:
        assert store.build("key") == BUILD
        assert store.build("other") is None
        assert store.layout("digest", "maker") == "{}"
        assert store.layout("digest", "another maker") is None
        assert store.comparison("old", "new", "maker") == "[]"
        assert store.comparison("new", "old", "maker") is None
        assert store.measured("bench", "qps") == [RUN]
        assert store.measured("bench", "tps") == []
    assert sorted(p.name for p in path.parent.iterdir()) == [path.name]


@pytest.mark.parametrize("content", [b"", b"my notes\n", b"SQLite format 3\0" + b"\0" * 200, b"\x7fELF" * 40])
def test_a_file_of_the_user_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(LinemateError, match="is not a history of linemate"):
        Store(str(path))
    assert path.read_bytes() == content


def test_a_database_of_the_user_is_refused_and_left_as_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE mine (a)")
        database.commit()
    before = path.read_bytes()
    with pytest.raises(LinemateError, match="is not a history of linemate"):
        Store(str(path))
    assert path.read_bytes() == before


def test_folders_links_to_nothing_and_missing_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    for name, why in ((".", "is no file"), ("link", "link to nothing"), ("no/store", "No such file")):
        with pytest.raises(LinemateError, match=why):
            Store(str(tmp_path / name))


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        ("PRAGMA user_version = 7", "made by another version"),
        ("CREATE TABLE extra (a)", "not those of a history"),
        ("DROP TABLE measured", "not those of a history"),
        ("CREATE TRIGGER t AFTER INSERT ON build BEGIN DELETE FROM measured; END", "not those of a history"),
        ("CREATE VIEW v AS SELECT 1", "not those of a history"),
        ("ALTER TABLE build RENAME COLUMN why TO because", "not those of a history"),
    ],
)
def test_another_schema_is_refused(path: Path, statement: str, why: str) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()
    with pytest.raises(LinemateError, match=why):
        Store(str(path))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE measured SET value = -1",
        "UPDATE measured SET value = 9e999",
        "UPDATE measured SET round = -5",
    ],
)
def test_measurements_that_cannot_be_are_refused(path: Path, statement: str) -> None:
    filled(path)
    with closing(sqlite3.connect(path)) as database:
        database.execute(statement)
        database.commit()
    with closing(Store(str(path))) as store, pytest.raises(LinemateError, match="not a positive number"):
        store.measured("bench", "qps")


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 30), st.binary(min_size=1, max_size=64))
def test_damage_ends_in_a_reason(tmp_path_factory: pytest.TempPathFactory, at: int, junk: bytes) -> None:
    path = tmp_path_factory.mktemp("damaged") / "store.sqlite"
    filled(path)
    data = bytearray(path.read_bytes())
    at %= len(data)
    data[at : at + len(junk)] = junk
    path.write_bytes(data)
    # Read as it was, or refused: nothing else leaves it.
    with contextlib.suppress(LinemateError), closing(Store(str(path))) as store:
        store.build("key")
        store.layout("digest", "maker")
        store.comparison("old", "new", "maker")
        store.measured("bench", "qps")


def test_the_file_says_what_it_is(path: Path) -> None:
    filled(path)
    assert int.from_bytes(path.read_bytes()[68:72], "big") == APPLICATION_ID


def test_a_broken_document_in_the_store_ends_with_2(
    path: Path, copies: Repository, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["history", "--repo", str(copies.path), "--build", COPY, "--binary", "server", "--store", str(path)]
    assert main([*command, "HEAD~1..HEAD"]) == 0
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE layout SET document = '[[[['")
        database.commit()
    assert main([*command, "HEAD~1..HEAD"]) == 2
    assert "holds a broken document" in capsys.readouterr().err
