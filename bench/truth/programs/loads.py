"""Programs of the other files again, under loads that make their threads share more, or share other things.

Owns these rows.  Counts of one program's loads are of one project: what is fitted on one is not judged by another.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

from bench.truth.programs import databases, files, network
from bench.truth.programs.databases import ADMIN, SECRET, SUFFIX
from bench.truth.programs.program import PORT, Program, run, text_of, together

TABLES = 40
STATEMENTS = 2000  # of files that git keeps: its threads get 500 each


def _row(rows: tuple[Program, ...], name: str) -> Program:
    return next(row for row in rows if row.name == name)


def _batch(client: int, turn: int) -> bytes:
    """What one connection of memcached asks for at once; the last line is answered by MN."""
    lines = []
    for at in range(4):
        key, other = b"k%d" % ((client * 7 + turn * 13 + at) % 300), b"n%d" % ((turn + at) % 20)
        lines += [
            b"set %s 0 300 40\r\n%s" % (key, b"v" * 40),
            b"add %s 0 0 1\r\n1" % other,
            b"get %s" % key,
            b"incr %s 3" % other,
            b"touch %s 200" % key,
            b"gat 200 %s" % key,
            b"append %s 0 0 2\r\nxx" % other,
            b"delete k%d" % ((client + turn) % 300),
        ]
    if turn % 8 == client % 8:
        lines += [b"stats", b"stats items", b"stats slabs"]
    return b"\r\n".join([*lines, b"mn", b""])


def _asked(connection: socket.socket, batch: bytes) -> None:
    connection.sendall(batch)
    tail = b""
    while not tail.endswith(b"MN\r\n"):
        part = connection.recv(65536)
        if not part:
            return
        tail = (tail + part)[-4:]


def _connections(where: Path, turn: int) -> None:
    """Clients with six connections each, which they use in turns."""

    def client(number: int) -> None:
        with ExitStack() as opened:
            ours = [
                opened.enter_context(closing(socket.create_connection(("127.0.0.1", PORT), timeout=120.0)))
                for _ in range(6)
            ]
            for at in range((4, 150)[turn]):
                _asked(ours[at % 6], _batch(number, at))

    together(*(lambda n=n: client(n) for n in range(8)))


def _evicting(where: Path, turn: int) -> None:
    """Large values in little memory, freed by a thread of their own; every write is kept at once."""
    port = ("-p", str(PORT))
    tests = "set,get,incr,rpush,lpop,sadd,spop,hset,zadd,zpopmin,lrange_300"
    run("redis-benchmark", *port, "-n", ("200", "1500")[turn], "-c", "64", "-d", "1500", "-r", "900", "-q", "-t", tests)
    if turn:
        script = "for i=1,800 do redis.call('sadd', KEYS[1], i) redis.call('rpush', KEYS[2], i) end"
        for number in range(20):
            run("redis-cli", *port, "eval", script, "2", f"s{number}", f"l{number}")
            run("redis-cli", *port, "unlink", f"s{number}")
            run("redis-cli", *port, "del", f"l{number}")
        for command in ("BGREWRITEAOF", "INFO all", "FLUSHALL ASYNC"):
            run("redis-cli", *port, *command.split())


def _opening(where: Path, turn: int) -> None:
    """More tables than may stay open, many connections, and what looks at all tables."""
    client = ("--no-defaults", f"--socket={where}/sock", "-u", "root")
    if not turn:
        tables = "".join(
            f"CREATE TABLE t{n} (k INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE={('InnoDB', 'Aria', 'MyISAM')[n % 3]};"
            f"INSERT INTO t{n} (v) VALUES (1),(2),(3);"
            for n in range(TABLES)
        )
        run("mysql", *client, "-e", f"CREATE DATABASE many; USE many; {tables}")
    each = "".join(
        f"SELECT v FROM t{n} WHERE k=2;INSERT INTO t{n} (v) VALUES (7);UPDATE t{(n + 3) % TABLES} SET v=v+1 WHERE k=1;"
        for n in range(TABLES)
    )
    looking = "SHOW TABLE STATUS;FLUSH TABLES;SHOW GLOBAL STATUS;SHOW OPEN TABLES;SHOW PROCESSLIST"

    def worker() -> None:
        slap = ("mysqlslap", *client, "--create-schema=many", "--no-drop", "--delimiter=;")
        run(*slap, f"--concurrency={(2, 8)[turn]}", f"--iterations={(1, 2)[turn]}", f"--query={each}")

    def looker() -> None:
        for _ in range((1, 6)[turn]):
            run("mysql", *client, "many", "-e", looking)

    together(worker, looker)


def _pooled(where: Path, turn: int) -> None:
    """Many connections with small statements, which a few threads of a pool serve."""
    slap = ("mysqlslap", "--no-defaults", f"--socket={where}/sock", "-u", "root", "--concurrency=12", "--delimiter=;")
    table = "CREATE TABLE t (k INT PRIMARY KEY, v INT) ENGINE=InnoDB"
    rows = ",".join(f"({n},0)" for n in range(100))
    statements = "SELECT 1;SELECT v FROM t WHERE k=37;SHOW STATUS LIKE 'Threads%';UPDATE t SET v=v+1 WHERE k=11"
    made = (f"--create={table};INSERT INTO t VALUES {rows}", f"--query={statements}")
    run(*slap, *made, f"--number-of-queries={(60, 1200)[turn]}")


def _secrets(where: Path) -> None:
    """The directory of the other load, with people who can log in, asked through two listeners."""
    databases.directory(where, "userPassword: p{n}\n", "listener-threads 2\n")


def _logins(where: Path, turn: int) -> None:
    """Clients that connect, log in, ask for little and leave."""
    at = ("-x", "-H", f"ldap://127.0.0.1:{PORT}")

    def client(number: int) -> None:
        for turned in range((2, 20)[turn]):
            user = (number * 31 + turned * 7) % 200
            who = ("-D", f"uid=u{user},{SUFFIX}", "-w", f"p{user}")
            run("ldapwhoami", *at, *who)
            run("ldapsearch", *at, *who, "-b", SUFFIX, f"(uid=u{user})", "cn")
            run("ldapcompare", *at, *who, f"uid=u{user},{SUFFIX}", f"sn:s{user % 7}")
            if not turned % 5:
                run("ldapsearch", *at, "-D", ADMIN, "-w", SECRET, "-b", SUFFIX, "(objectClass=inetOrgPerson)", "uid")

    together(*(lambda n=n: client(n) for n in range((2, 6)[turn])))


def _allocating(where: Path, turn: int) -> None:
    """Many allocations at once, over datagrams and streams, each used little."""
    user = ("turnutils_uclient", "-u", "a", "-w", "b", "-p", str(PORT), "-l", "100", "-y")
    many = ("-m", ("4", "24")[turn], "-n", ("2", "8")[turn])
    ways = ((), ("-t",), ("-s",))

    def client(way: tuple[str, ...]) -> Callable[[], None]:
        return lambda: run(*user, *many, *way, "127.0.0.1")

    together(*(client(way) for way in ways))


def _changing(where: Path, turn: int) -> None:
    """A zone that several clients change, while others ask and fetch all of it."""

    def changer(number: int) -> Callable[[], None]:
        def change() -> None:
            for at in range((1, 10)[turn]):
                steps = "".join(
                    f"update add c{number}x{at}x{n}.example 60 A 10.8.{number}.{n + 1}\n"
                    f"update delete c{number}x{at - 1}x{n}.example A\n"
                    for n in range(6)
                )
                update = f"server 127.0.0.1 {PORT}\nzone example\n{steps}send\n"
                run("nsupdate", stdin=update.encode())

        return change

    def fetcher() -> None:
        for _ in range((1, 4)[turn]):
            run("dig", "@127.0.0.1", "-p", str(PORT), "example", "AXFR")

    askers = (network.asker(client, (40, 600)[turn]) for client in range((1, 3)[turn]))
    together(fetcher, *(changer(n) for n in range((1, 3)[turn])), *askers)


def _checking(where: Path, turn: int) -> None:
    """Torrents whose files are there already: all checked, moved, limited and asked for by several clients."""
    remote = ("transmission-remote", f"127.0.0.1:{PORT}")
    if not turn:
        for number in range(6):
            (where / f"out/{number}").write_bytes((where / f"pages/{number}").read_bytes())
            run(*remote, "-w", f"{where}/out", "-a", f"{where}/{number}.torrent")

    def asker() -> None:
        for _ in range((2, 25)[turn]):
            run(*remote, "-l")
            run(*remote, "-t", "all", "-i", "-f")
            run(*remote, "-st")

    def changer() -> None:
        for at in range((1, 6)[turn]):
            run(*remote, "-t", "all", "-v")
            run(*remote, "-t", "all", "-d" if at % 2 else "-D", *(("500",) if at % 2 else ()))
            (where / f"moved{turn}{at}").mkdir()
            run(*remote, "-t", "1,2,3", "--move", f"{where}/moved{turn}{at}")

    together(asker, asker, changer)


def _many_files(where: Path) -> None:
    """A work tree of many small files, all of which the index knows."""
    tree = where / "tree"
    for number in range(STATEMENTS):
        folder = tree / f"d{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"file{number}").write_bytes(text_of(80, number))
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(where)}
    for command in (("init", "-q"), ("add", ".")):
        subprocess.run(["git", *command], cwd=tree, check=True, env=environment)


def _two_disks(where: Path) -> None:
    files.disk(where)
    command = ["qemu-img", "convert", "-f", "raw", "-O", "qcow2", f"{where}/disk.raw", f"{where}/disk.qcow2"]
    subprocess.run(command, check=True)


_NO_CONFIGURATION = (("GIT_CONFIG_GLOBAL", "/dev/null"), ("HOME", "{where}"))

ROWS = (
    replace(
        _row(databases.ROWS, "memcached"),
        name="memcached-connections",
        load=_connections,
        needs=(),
    ),
    replace(
        _row(databases.ROWS, "redis-server"),
        name="redis-evicting",
        command=(
            *("/usr/bin/redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--dir", "{where}"),
            *("--appendonly", "yes", "--appendfsync", "always", "--io-threads", "4", "--io-threads-do-reads", "yes"),
            *("--maxmemory", "6mb", "--maxmemory-policy", "allkeys-lru", "--lazyfree-lazy-eviction", "yes"),
            *("--lazyfree-lazy-user-del", "yes", "--lazyfree-lazy-server-del", "yes"),
        ),
        load=_evicting,
    ),
    replace(
        _row(databases.ROWS, "mariadbd"),
        name="mariadbd-tables",
        command=(*databases.MARIADBD, "--table-open-cache=20", "--performance-schema=0"),
        load=_opening,
    ),
    replace(
        _row(databases.ROWS, "mariadbd"),
        name="mariadbd-pool",
        command=(*databases.MARIADBD, "--thread-handling=pool-of-threads", "--thread-pool-size=2"),
        load=_pooled,
    ),
    replace(_row(databases.ROWS, "slapd"), name="slapd-logins", load=_logins, prepare=_secrets),
    replace(_row(network.ROWS, "turnserver"), name="turnserver-allocations", load=_allocating),
    replace(_row(network.ROWS, "named"), name="named-updates", load=_changing),
    replace(_row(network.ROWS, "transmission-daemon"), name="transmission-checks", load=_checking),
    Program(
        "git-pack-objects",
        "git",
        (
            *("/usr/bin/git", "-C", "{where}/tree", "pack-objects", "--threads=4", "--all", "--no-reuse-delta", "-q"),
            "{where}/out",
        ),
        prepare=files.repository,
        environment=_NO_CONFIGURATION,
    ),
    Program(
        "git-status",
        "git",
        ("/usr/bin/git", "-C", "{where}/tree", "status", "--porcelain"),
        prepare=_many_files,
        environment=_NO_CONFIGURATION,
    ),
    Program(
        "qemu-img-compare",
        "qemu-utils",
        ("/usr/bin/qemu-img", "compare", "-f", "raw", "-F", "qcow2", "{where}/disk.raw", "{where}/disk.qcow2"),
        prepare=_two_disks,
    ),
    Program(
        "qemu-img-bench",
        "qemu-utils",
        (
            *("/usr/bin/qemu-img", "bench", "-c", "3000", "-d", "16", "-s", "4096", "-w", "-f", "qcow2"),
            *("-t", "writeback", "-i", "threads", "{where}/disk.qcow2"),
        ),
        prepare=_two_disks,
    ),
)
