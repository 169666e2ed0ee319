"""Servers and clients of network protocols, with peers on the loopback interface.  Owns their rows."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

from bench.truth.programs.program import PORT, Program, run, text_of, together, web_server

LIBRARIES = "/lib/x86_64-linux-gnu"
NAMES = 200
BEHIND = PORT + 1  # what caches fetch from


def _zone(where: Path) -> str:
    hosts = "".join(f'h{n} A 10.0.{n // 100}.{n % 100 + 1}\n  TXT "host {n}"\n' for n in range(NAMES))
    zone = f"$TTL 300\n@ SOA ns h 1 3600 900 604800 300\n  NS ns\n  MX 10 h1\nns A 127.0.0.1\nalias CNAME h2\n{hosts}"
    (where / "zone").write_text(zone)
    return zone


def _named(where: Path) -> None:
    _zone(where)
    (where / "named.conf").write_text(
        f'options {{ directory "{where}"; listen-on port {PORT} {{ 127.0.0.1; }}; listen-on-v6 {{ none; }}; '
        f'recursion no; pid-file none; session-keyfile "{where}/key"; allow-transfer {{ any; }}; }};\n'
        f'controls {{ }};\nzone "example" {{ type primary; file "{where}/zone"; allow-update {{ 127.0.0.1; }}; }};\n'
    )


def _gdnsd(where: Path) -> None:
    (where / "etc/zones").mkdir(parents=True)
    (where / "etc/zones/example").write_text(_zone(where))
    (where / "etc/config").write_text(
        f"options => {{ listen => 127.0.0.1:{PORT}, run_dir => {where}/run, state_dir => {where}/state, "
        f"udp_threads => 2, tcp_threads => 2 }}\n"
    )


def _question(number: int, kind: int) -> bytes:
    name = f"h{number}" if number < NAMES else f"missing{number}"
    labels = b"".join(bytes([len(part)]) + part.encode() for part in (name, "example"))
    return struct.pack(">6H", number, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)


def _ask(seed: int, count: int) -> None:
    """Questions over UDP from many ports, so that all of a server's listeners get some, and over TCP."""
    for start in range(0, count, 20):
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as asking:
            asking.settimeout(20.0)
            asking.connect(("127.0.0.1", PORT))
            for number in range(start, start + 20):
                asking.send(_question((number * 7 + seed) % (NAMES + 20), (1, 16, 28, 15)[number % 4]))
                try:
                    asking.recv(4096)
                except OSError:
                    return
    with closing(socket.create_connection(("127.0.0.1", PORT), timeout=20.0)) as stream:
        for number in range(count // 10):
            question = _question((number * 3 + seed) % NAMES, 1)
            stream.sendall(struct.pack(">H", len(question)) + question)
            if not stream.recv(4096):
                return


def _dns(where: Path, turn: int) -> None:
    together(*(asker(client, (40, 1200)[turn]) for client in range((2, 4)[turn])))
    if turn and (where / "named.conf").exists():
        run("dig", "@127.0.0.1", "-p", str(PORT), "example", "AXFR")
        update = f"server 127.0.0.1 {PORT}\nzone example\nupdate add new.example 60 A 10.9.9.9\nsend\n" * 5
        run("nsupdate", stdin=update.encode())


def asker(seed: int, count: int) -> Callable[[], None]:
    """A client that asks so many questions."""
    return lambda: _ask(seed, count)


def _mqtt(where: Path, turn: int) -> None:
    """One publisher for each of a few topics, and subscribers to all of them."""
    count = (20, 400)[turn]
    at = ("-h", "127.0.0.1", "-p", str(PORT))
    lines = b"".join(b"message %d\n" % n for n in range(count))

    def publish(number: int) -> Callable[[], None]:
        return lambda: run("mosquitto_pub", *at, "-t", f"t/{number}", "-q", str(number % 3), "-l", stdin=lines)

    def subscribe() -> None:
        run("mosquitto_sub", *at, "-t", "t/#", "-q", "1", "-C", str(2 * count), "-W", "60")

    together(subscribe, subscribe, *(publish(n) for n in range(3)))


def _mosquitto(where: Path) -> None:
    (where / "conf").write_text(f"listener {PORT} 127.0.0.1\nallow_anonymous true\nuser root\n")


def _turn(where: Path, turn: int) -> None:
    messages = ("5", "60")[turn]
    client = ("turnutils_uclient", "-u", "a", "-w", "b", "-p", str(PORT), "-n", messages, "-m", "6", "-l", "200", "-y")
    run(*client, "127.0.0.1")
    if turn:
        run(*client, "-t", "127.0.0.1")


def _files(where: Path) -> None:
    (where / "out").mkdir()
    (where / "pages").mkdir()
    for number in range(6):
        (where / f"pages/{number}").write_bytes(text_of(1 << 20, number))
    (where / "list").write_text("".join(f"http://127.0.0.1:{BEHIND}/{n}\n" for n in range(6)))


def _coded(value: object) -> bytes:
    """As torrent files write it."""
    match value:
        case int():
            return b"i%de" % value
        case bytes():
            return b"%d:%s" % (len(value), value)
        case dict():
            return b"d" + b"".join(_coded(k) + _coded(v) for k, v in sorted(value.items())) + b"e"
        case _:
            raise TypeError(f"{type(value).__name__} has no form in a torrent file")


def _torrents(where: Path) -> None:
    """Files to be fetched in pieces from a web server, which needs no second client."""
    _files(where)
    (where / "settings.json").write_text(json.dumps({"dht-enabled": False, "lpd-enabled": False, "pex-enabled": False}))
    for number in range(6):
        body = (where / f"pages/{number}").read_bytes()
        pieces = b"".join(hashlib.sha1(body[at : at + 32768]).digest() for at in range(0, len(body), 32768))
        info = {b"length": len(body), b"name": b"%d" % number, b"piece length": 32768, b"pieces": pieces}
        torrent = {b"info": info, b"url-list": b"http://127.0.0.1:%d/%d" % (BEHIND, number)}
        (where / f"{number}.torrent").write_bytes(_coded(torrent))


def _transmission(where: Path, turn: int) -> None:
    """Two torrents to warm up, four to be counted; asked for their state all the while; all checked again."""
    remote = ("transmission-remote", f"127.0.0.1:{PORT}")
    for number in (range(2), range(2, 6))[turn]:
        run(*remote, "-w", f"{where}/out", "-a", f"{where}/{number}.torrent")
    for _ in range((5, 30)[turn]):
        run(*remote, "-l")
        run(*remote, "-t", "all", "-i")
        time.sleep(0.5)
    if turn:
        run(*remote, "-t", "all", "-v")
        time.sleep(5.0)


def _served(where: Path) -> AbstractContextManager[None]:
    return web_server(where / "pages", BEHIND)


ROWS = (
    Program(
        "named",
        "bind9",
        ("/usr/sbin/named", "-f", "-n", "3", "-c", "{where}/named.conf", "-u", "root"),
        _dns,
        _named,
        judged=(
            f"{LIBRARIES}/libisc-*-Debian.so",
            f"{LIBRARIES}/libdns-*-Debian.so",
            f"{LIBRARIES}/libns-*-Debian.so",
        ),
        needs=("bind9-dnsutils",),
        files=1024,
    ),
    Program(
        "gdnsd",
        "gdnsd",
        ("/usr/sbin/gdnsd", "-c", "{where}/etc", "start"),
        _dns,
        _gdnsd,
    ),
    Program(
        "mosquitto",
        "mosquitto",
        ("/usr/sbin/mosquitto", "-c", "{where}/conf"),
        _mqtt,
        _mosquitto,
        needs=("mosquitto-clients",),
    ),
    Program(
        "turnserver",
        "coturn",
        (
            *("/usr/bin/turnserver", "-n", "-p", "{port}", "-L", "127.0.0.1", "-m", "3", "-u", "a:b", "-r", "here"),
            *("--lt-cred-mech", "--allow-loopback-peers", "--no-tls", "--no-dtls", "--log-file", "stdout"),
            *("--pidfile", "{where}/pid", "--userdb", "{where}/db", "--cli-password", "c"),
        ),
        _turn,
        files=1024,
    ),
    Program(
        "transmission-daemon",
        "transmission-daemon",
        (
            *("/usr/bin/transmission-daemon", "-f", "-g", "{where}", "-w", "{where}/out", "-p", "{port}", "-T"),
            *("-i", "127.0.0.1", "-a", "127.0.0.1", "-M"),
        ),
        _transmission,
        _torrents,
        needs=("transmission-cli",),
        beside=_served,
        files=1024,
    ),
    Program(
        "aria2c",
        "aria2",
        ("/usr/bin/aria2c", "-q", "-x4", "-s4", "-k1M", "-j3", "-d", "{where}/out", "-i", "{where}/list"),
        prepare=_files,
        judged=(f"{LIBRARIES}/libaria2.so.0",),
        beside=_served,
    ),
)
