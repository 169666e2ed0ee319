"""DuckDB with several threads and connections on one database in memory: what its library is counted under."""

from __future__ import annotations

import sys
import threading

import duckdb

QUERIES = (
    "SELECT k % 97 AS g, count(*), sum(v), max(s) FROM t GROUP BY g ORDER BY g",
    "SELECT count(*) FROM t AS a JOIN u AS b ON a.k = b.k WHERE b.v > 20",
    "SELECT s, v FROM t ORDER BY v DESC, s LIMIT 50",
    "SELECT count(DISTINCT s), avg(v) FROM t WHERE k % 3 = 1",
)


def main() -> int:
    database = duckdb.connect(":memory:", config={"threads": int(sys.argv[1]), "memory_limit": "400MB"})
    made = "SELECT range AS k, (range * 7919) % 1009 AS v, 's' || (range % 251) AS s FROM range({count})"
    for table, count in (("t", 300_000), ("u", 20_000)):
        database.execute(f"CREATE TABLE {table} AS {made.format(count=count)}")

    def work(number: int) -> None:
        with database.cursor() as connection:
            for turn in range(2):
                connection.execute(QUERIES[(number + turn) % len(QUERIES)]).fetchall()
                connection.execute("INSERT INTO u VALUES (?, ?, ?)", [number * 100_000 + turn, turn, "new"])

    clients = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
