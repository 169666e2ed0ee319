"""Databases and directories, with clients that read and write.  Owns their rows."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.truth.programs.program import DRIVERS, PORT, Program, run, together, wheel

DUCKDB = "2.0.1"  # of PyPI
ADMIN, SECRET, SUFFIX = "cn=admin,dc=a", "x", "dc=a"


def _redis(where: Path, turn: int) -> None:
    requests, port = ("200", "1500")[turn], str(PORT)
    tests = "set,get,incr,lpush,lrange_100,hset,zadd,mset"
    run("redis-benchmark", "-p", port, "-n", requests, "-c", "40", "-P", "8", "-d", "200", "-q", "-t", tests)
    if turn:
        for command in ("BGREWRITEAOF", "FLUSHALL ASYNC"):
            run("redis-cli", "-p", port, *command.split())


def _memcached(where: Path, turn: int) -> None:
    test, each = ("set", "20") if not turn else ("set", "150")
    run("memcslap", f"--servers=127.0.0.1:{PORT}", "--concurrency=16", f"--execute-number={each}", f"--test={test}")
    if turn:
        run("memcslap", f"--servers=127.0.0.1:{PORT}", "--concurrency=16", "--execute-number=150", "--test=get")
        run("memcstat", f"--servers=127.0.0.1:{PORT}")


def _install(where: Path) -> None:
    command = ["mariadb-install-db", "--no-defaults", f"--datadir={where}/data", "--user=root", "--skip-test-db"]
    more = ["--auth-root-authentication-method=normal", "--innodb-log-file-size=8M", "--innodb-use-native-aio=0"]
    subprocess.run([*command, *more], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _mariadb(where: Path, turn: int) -> None:
    slap = ("mysqlslap", "--no-defaults", f"--socket={where}/sock", "-u", "root", "--concurrency=4")
    generated = ("--auto-generate-sql", "--auto-generate-sql-load-type=mixed", "--auto-generate-sql-add-autoincrement")
    run(*slap, *generated, f"--auto-generate-sql-execute-number={(10, 120)[turn]}", "--engine=innodb")
    if turn:
        run(*slap, *generated, "--auto-generate-sql-execute-number=40", "--engine=aria")
        read = (*generated[:1], "--auto-generate-sql-load-type=key", "--auto-generate-sql-add-autoincrement")
        run(*slap, *read, "--auto-generate-sql-execute-number=100", "--engine=innodb")


def _points(where: Path, turn: int) -> None:
    """Many small statements: what each statement does for all of them shows."""
    slap = ("mysqlslap", "--no-defaults", f"--socket={where}/sock", "-u", "root", "--concurrency=5", "--delimiter=;")
    table = "CREATE TABLE t (k INT PRIMARY KEY, v INT) ENGINE=InnoDB"
    rows = ",".join(f"({n},0)" for n in range(100))
    statements = "SELECT 1;SELECT v FROM t WHERE k=37;DO 1;SELECT v FROM t WHERE k=52;UPDATE t SET v=v+1 WHERE k=11"
    made = (f"--create={table};INSERT INTO t VALUES {rows}", f"--query={statements}")
    run(*slap, *made, f"--number-of-queries={(50, 1000)[turn]}")


def directory(where: Path, more: str = "", settings: str = "") -> None:
    """A directory of one suffix; its schema is what slapd brings.  ``more``: lines of each person."""
    (where / "db").mkdir()
    (where / "slapd.conf").write_text(
        f"include /etc/ldap/schema/core.schema\ninclude /etc/ldap/schema/cosine.schema\n"
        f"include /etc/ldap/schema/inetorgperson.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\nthreads 4\n"
        f"{settings}database mdb\nsuffix {SUFFIX}\nrootdn {ADMIN}\nrootpw {SECRET}\ndirectory {where}/db\n"
        f"maxsize 67108864\ndbnosync\nindex objectClass eq\nindex uid,cn eq,sub\n"
    )
    people = "".join(_person(n, more) for n in range(200))
    entries = f"dn: {SUFFIX}\nobjectClass: dcObject\nobjectClass: organization\no: a\ndc: a\n\n{people}"
    (where / "people.ldif").write_text(entries)
    subprocess.run(["/usr/sbin/slapadd", "-q", "-f", f"{where}/slapd.conf", "-l", f"{where}/people.ldif"], check=True)
    for client in range(4):
        changes = "".join(
            f"dn: uid=u{n},{SUFFIX}\nchangetype: modify\nreplace: description\ndescription: {client}-{n}\n\n"
            for n in range(client * 40, client * 40 + 40)
        )
        (where / f"modify{client}").write_text(changes)
        (where / f"names{client}").write_text("".join(f"u{n}\n" for n in range(client, 200, 2)))


def _person(number: int, more: str) -> str:
    return (
        f"dn: uid=u{number},{SUFFIX}\nobjectClass: inetOrgPerson\nuid: u{number}\ncn: name {number}\n"
        f"sn: s{number % 7}\ndescription: d\n{more.format(n=number)}\n"
    )


def _slapd(where: Path, turn: int) -> None:
    bound = ("-x", "-H", f"ldap://127.0.0.1:{PORT}", "-D", ADMIN, "-w", SECRET)
    search = ("ldapsearch", *bound, "-b", SUFFIX)

    def client(number: int) -> None:
        run(*search, "-f", f"{where}/names{number}", "(uid=%s)", "cn")
        run("ldapmodify", *bound, "-f", f"{where}/modify{number}")
        for _ in range(8):
            run(*search, f"(sn=s{number})", "uid")

    together(*(lambda n=n: client(n) for n in range((1, 4)[turn])))


def _sqlite_driver(where: Path) -> None:
    source = str(DRIVERS / "sqlite_threads.c")
    subprocess.run(["gcc", "-O2", "-pthread", source, "-o", f"{where}/driver", "-lsqlite3"], check=True)


MARIADBD = (
    *("/usr/sbin/mariadbd", "--no-defaults", "--user=root", "--datadir={where}/data", "--socket={where}/sock"),
    *("--port={port}", "--bind-address=127.0.0.1", "--pid-file={where}/pid", "--skip-name-resolve"),
    # Memory that is only reserved counts as used here, and there is no asynchronous input and output.
    *("--innodb-buffer-pool-size=16M", "--innodb-buffer-pool-size-max=16M", "--innodb-use-native-aio=0"),
    *("--innodb-log-file-size=8M", "--innodb-buffer-pool-load-at-startup=0", "--open-files-limit=2000"),
    *("--innodb-buffer-pool-dump-at-shutdown=0", "--table-open-cache=200", "--thread-cache-size=8"),
)

ROWS = (
    Program(
        "redis-server",
        "redis-tools",
        (
            *("/usr/bin/redis-server", "--port", "{port}", "--bind", "127.0.0.1", "--dir", "{where}"),
            *("--appendonly", "yes", "--io-threads", "2", "--io-threads-do-reads", "yes"),
        ),
        _redis,
        needs=("redis-server",),
    ),
    Program(
        "memcached",
        "memcached",
        ("/usr/bin/memcached", "-u", "root", "-p", "{port}", "-l", "127.0.0.1", "-t", "4", "-m", "16", "-U", "0"),
        _memcached,
        needs=("libmemcached-tools",),
        files=1024,
    ),
    Program(
        "mariadbd",
        "mariadb-server-core",
        MARIADBD,
        _mariadb,
        _install,
        needs=("mariadb-client",),
    ),
    Program(
        "mariadbd-points",
        "mariadb-server-core",
        MARIADBD,
        _points,
        _install,
        needs=("mariadb-client",),
    ),
    Program(
        "slapd",
        "slapd",
        ("/usr/sbin/slapd", "-d", "0", "-f", "{where}/slapd.conf", "-h", "ldap://127.0.0.1:{port}"),
        _slapd,
        directory,
        judged=("/usr/sbin/slapd", "/usr/lib/ldap/back_mdb.so", "/lib/x86_64-linux-gnu/libldap-2.5.so.0"),
        needs=("ldap-utils",),
        files=1024,
    ),
    Program(
        "sqlite",
        "libsqlite3-0",
        ("{where}/driver", "{where}/data.db", "3"),
        prepare=_sqlite_driver,
        judged=("/lib/x86_64-linux-gnu/libsqlite3.so.0",),
        needs=("libsqlite3-dev",),
    ),
    Program(
        "duckdb",
        "duckdb",
        ("/usr/bin/python3", "{drivers}/duckdb_threads.py", "3"),
        prepare=wheel("duckdb", DUCKDB),
        judged=("{built}/duckdb/_duckdb.cpython-311-x86_64-linux-gnu.so",),
        environment=(("PYTHONPATH", "{built}/duckdb"),),
        version=DUCKDB,
    ),
)
