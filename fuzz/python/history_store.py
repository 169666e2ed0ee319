"""The SQLite file of ``history`` (``linemate.history.store``).  Owns the inputs that the target starts with.

Pages are as small as SQLite allows, so that a store is a few kilobytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from fuzz.python.engine.target import Target, input_file
from linemate.history.store import APPLICATION_ID, SCHEMA, VERSION, BuildRow, MeasuredRow, Store

_BUILD = BuildRow("k", "tree", "make", "a.out", "gcc", False, "", "log", "digest")


def _seeds() -> Iterable[bytes]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("PRAGMA page_size = 512")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in SCHEMA:
        connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    yield bytes(connection.serialize())
    connection.execute("INSERT INTO build VALUES ('k', 'tree', 'make', 'a.out', 'gcc', 0, '', 'log', 'digest')")
    connection.execute("INSERT INTO layout VALUES ('digest', 'maker', '{}')")
    connection.execute("INSERT INTO comparison VALUES ('digest', 'digest', 'maker', '[]')")
    connection.execute("INSERT INTO measured VALUES ('k', 'bench', 'qps', 'base', 1, 2.5, 0, 0, 's')")
    yield bytes(connection.serialize())
    connection.close()


def one(data: bytes) -> None:
    store = Store(str(input_file(data)))
    try:
        store.build("k")
        store.layout("digest", "maker")
        store.comparison("digest", "digest", "maker")
        store.measured("bench", "qps")
        store.put_measured("bench", "qps", MeasuredRow("k", "base", 1, 3.5, False, 0, "s"))
        store.put_build(_BUILD)
        store.forget_build("k")
    finally:
        store.close()


TARGET = Target("the store of histories", one, _seeds, (b"CREATE TABLE ", b"sqlite_autoindex_"), max_bytes=16384)
