"""The results of ``history`` in one SQLite file that later runs extend.

Owns the schema, its version, and the refusal of every other file.  Each result is one transaction: what was finished
stays, however a run ends.  The file may come from anywhere, so what is read from it is checked like any input.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sharing.model.errors import LinemateError
from sharing.model.inputs import open_input
from sharing.model.process.scratch import beside

APPLICATION_ID = 0x6C6D6869  # "lmhi"; SQLite keeps it at byte 68 of the header, the version at byte 60
VERSION = 1
MAX_FILE_BYTES = 4 << 30
MAX_TEXT_BYTES = 64 << 20
MAX_ROWS = 2_000_000
_BUSY_S = 30.0
_STEPS = 50_000_000  # of SQLite's virtual machine in one statement: far beyond any of ours on a file of that size
_MAGIC = b"SQLite format 3\0"
_ROLLBACK = b"\1\1"  # at byte 18: journalled as our stores are; others make SQLite write files beside
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")  # begins a journal, and ends one that names another journal

SCHEMA = (
    "CREATE TABLE build (key TEXT PRIMARY KEY, tree TEXT NOT NULL, command TEXT NOT NULL, binary TEXT NOT NULL, "
    "compiler TEXT NOT NULL, failed INTEGER NOT NULL, why TEXT NOT NULL, log TEXT NOT NULL, digest TEXT NOT NULL) "
    "STRICT",
    "CREATE TABLE layout (digest TEXT NOT NULL, maker TEXT NOT NULL, document TEXT NOT NULL, "
    "PRIMARY KEY (digest, maker)) STRICT",
    "CREATE TABLE comparison (old TEXT NOT NULL, new TEXT NOT NULL, maker TEXT NOT NULL, document TEXT NOT NULL, "
    "PRIMARY KEY (old, new, maker)) STRICT",
    "CREATE TABLE measured (key TEXT NOT NULL, bench TEXT NOT NULL, metric TEXT NOT NULL, level TEXT NOT NULL, "
    "round INTEGER NOT NULL, value REAL NOT NULL, disturbed INTEGER NOT NULL, repeated INTEGER NOT NULL, "
    "session TEXT NOT NULL, "
    "PRIMARY KEY (key, bench, metric, level, round)) STRICT",
)


class DamagedStore(LinemateError):
    """The file is no store, or holds what no run of ours wrote."""


@dataclass(frozen=True, slots=True)
class BuildRow:
    """One build by the key of its tree, command and compiler.  ``digest`` is of the binary, "" where it failed."""

    key: str
    tree: str
    command: str
    binary: str
    compiler: str
    failed: bool
    why: str
    log: str
    digest: str


@dataclass(frozen=True, slots=True)
class MeasuredRow:
    """One run of a benchmark.  ``repeated``: runs before it that were thrown away, for what others did meanwhile.

    ``session`` tells the runs of linemate apart.
    """

    key: str
    level: str
    round: int
    value: float
    disturbed: bool
    repeated: int
    session: str


class Store:
    """An open store.  Every method is one transaction; LinemateError for a file that is damaged or locked."""

    def __init__(self, path: str) -> None:
        self.path = path
        _check_or_create(Path(path))
        try:
            self._connection = sqlite3.connect(
                f"{Path(path).absolute().as_uri()}?mode=rw", uri=True, timeout=_BUSY_S, isolation_level=None
            )
        except sqlite3.Error as error:
            raise DamagedStore(f"{path}: {error}") from error
        try:
            with self._errors():
                self._guard()
                self._check_schema()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def build(self, key: str) -> BuildRow | None:
        rows = self._rows("SELECT * FROM build WHERE key = ?", (key,), (str,) * 5 + (int,) + (str,) * 3)
        if not rows:
            return None
        key, tree, command, binary, compiler, failed, why, log, digest = rows[0]
        return BuildRow(key, tree, command, binary, compiler, bool(failed), why, log, digest)

    def put_build(self, row: BuildRow) -> None:
        self._write(
            "INSERT OR REPLACE INTO build VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row.key, row.tree, row.command, row.binary, row.compiler, int(row.failed), row.why, row.log, row.digest),
        )

    def forget_build(self, key: str) -> None:
        self._write("DELETE FROM build WHERE key = ?", (key,))

    def layout(self, digest: str, maker: str) -> str | None:
        rows = self._rows("SELECT document FROM layout WHERE digest = ? AND maker = ?", (digest, maker), (str,))
        return rows[0][0] if rows else None

    def put_layout(self, digest: str, maker: str, document: str) -> None:
        self._write("INSERT OR REPLACE INTO layout VALUES (?, ?, ?)", (digest, maker, document))

    def comparison(self, old: str, new: str, maker: str) -> str | None:
        rows = self._rows(
            "SELECT document FROM comparison WHERE old = ? AND new = ? AND maker = ?", (old, new, maker), (str,)
        )
        return rows[0][0] if rows else None

    def put_comparison(self, old: str, new: str, maker: str, document: str) -> None:
        self._write("INSERT OR REPLACE INTO comparison VALUES (?, ?, ?, ?)", (old, new, maker, document))

    def measured(self, bench: str, metric: str) -> list[MeasuredRow]:
        """All runs of a benchmark, by level and round."""
        rows = self._rows(
            "SELECT key, level, round, value, disturbed, repeated, session FROM measured "
            "WHERE bench = ? AND metric = ? ORDER BY level, round, key",
            (bench, metric),
            (str, str, int, float, int, int, str),
        )
        out = [MeasuredRow(r[0], r[1], r[2], r[3], bool(r[4]), r[5], r[6]) for r in rows]
        if any(not 0 < row.value < float("inf") or not 0 <= row.round < 1 << 31 for row in out):
            raise DamagedStore(f"{self.path}: holds a measurement that is not a positive number")
        return out

    def put_measured(self, bench: str, metric: str, row: MeasuredRow) -> None:
        self._write(
            "INSERT OR REPLACE INTO measured VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (row.key, bench, metric, row.level, row.round, row.value, int(row.disturbed), row.repeated, row.session),
        )

    def _guard(self) -> None:
        connection = self._connection
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT_BYTES)
        connection.set_progress_handler(lambda: 1, _STEPS)
        # What a schema names is not run, and cells are checked before they are believed.
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")

    def _check_schema(self) -> None:
        # Of what SQLite opened: between the look at the file and that, another may have come to its place.
        if self._connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise DamagedStore(f"{self.path}: is not a history of linemate, left as it is")
        version = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version != VERSION:
            raise DamagedStore(f"{self.path}: made by another version (schema {version}, this one reads {VERSION})")
        # Indexes of primary keys have no statement; a trigger may have any name.
        query = "SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)"
        found = {tuple(row) for row in self._connection.execute(query).fetchmany(100)}
        expected = {("table", sql.split()[2], sql) for sql in SCHEMA}
        if found != expected:
            raise DamagedStore(f"{self.path}: its tables are not those of a history")

    def _rows(self, query: str, values: tuple[Any, ...], types: tuple[type, ...]) -> list[tuple[Any, ...]]:
        with self._errors():
            rows = self._connection.execute(query, values).fetchmany(MAX_ROWS)
        for row in rows:
            if len(row) != len(types) or not all(isinstance(v, t) for v, t in zip(row, types, strict=True)):
                raise DamagedStore(f"{self.path}: holds a value of another type than its column")
        return rows

    def _write(self, query: str, values: tuple[Any, ...]) -> None:
        with self._errors():
            self._connection.execute(query, values)  # autocommit: the statement is the transaction

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeError, OverflowError) as error:
            raise DamagedStore(f"{self.path}: {error}") from error


def _check_or_create(path: Path) -> None:
    """Refuse what is no store; where there is nothing, a whole new one appears at once."""
    try:
        head = _head(path)
    except FileNotFoundError:
        _create(path)
        return
    except OSError as error:
        raise DamagedStore(f"{path}: {error.strerror}") from error
    if head[:16] != _MAGIC or int.from_bytes(head[68:72], "big") != APPLICATION_ID:
        raise DamagedStore(f"{path}: is not a history of linemate, left as it is")
    if head[18:20] != _ROLLBACK:
        raise DamagedStore(
            f"{path}: offset 0x12: keeps its changes in another file, which histories of linemate never do"
        )
    try:
        _check_journal(Path(os.path.realpath(path) + "-journal"))
    except OSError as error:
        raise DamagedStore(f"{path}-journal: {error.strerror}") from error


def _check_journal(journal: Path) -> None:
    """Refuse what a run of ours cannot have left.

    SQLite takes back what a journal says was begun.  One that names a journal of several databases makes it remove the
    file of that name, whatever it is.
    """
    try:
        mode = journal.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise DamagedStore(f"{journal}: is no file: remove it, or use another history")
    with journal.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - len(_JOURNAL_MAGIC), 0))
        if size > len(_JOURNAL_MAGIC) and file.read() == _JOURNAL_MAGIC:
            raise DamagedStore(
                f"{journal}: offset {size - len(_JOURNAL_MAGIC):#x}: belongs to several databases, as none of linemate "
                "does: remove it, or use another history"
            )


def _head(path: Path) -> bytes:
    if not path.exists():
        raise FileNotFoundError
    if not path.is_file():
        raise DamagedStore(f"{path}: is no file")
    # Closed before SQLite opens it: closing drops the locks that a process has on a file.
    with open_input(path, "a history") as file:
        if os.fstat(file.fileno()).st_size > MAX_FILE_BYTES:
            raise DamagedStore(f"{path}: larger than {MAX_FILE_BYTES >> 30} GB")
        return file.read(100)


def _create(path: Path) -> None:
    if path.is_symlink():
        raise DamagedStore(f"{path}: is a link to nothing")
    with beside(path.absolute()) as making:
        _make(path, making)


def _make(path: Path, making: Path) -> None:
    try:
        os.close(os.open(making, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
        connection = sqlite3.connect(making, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = MEMORY")  # a kill leaves no journal beside it
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("BEGIN")
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute("COMMIT")
        finally:
            connection.close()
        # Unlike a rename, a link never replaces what another run put there meanwhile.
        with contextlib.suppress(FileExistsError):
            os.link(making, path)
    except OSError as error:
        raise DamagedStore(f"{path}: {error.strerror}") from error
    except sqlite3.Error as error:
        raise DamagedStore(f"{path}: {error}") from error
