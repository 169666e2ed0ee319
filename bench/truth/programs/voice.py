"""Servers of speech and sound, with clients that speak and listen.  Owns their rows."""

from __future__ import annotations

import socket
import ssl
import struct
import time
from contextlib import closing
from pathlib import Path

from bench.truth.programs.program import PORT, Program, run, text_of, together

VERSION, TUNNEL, AUTHENTICATE, PING, SYNCHRONISED = 0, 1, 2, 3, 5  # messages of the protocol
OPUS = 4 << 5
PULSE = "/usr/lib/x86_64-linux-gnu/pulseaudio"


def _mumble(where: Path) -> None:
    (where / "ini").write_text(
        f"database={where}/db.sqlite\nlogfile={where}/mumble.log\nhost=127.0.0.1\nport={PORT}\nusers=40\nuname=root\n"
        f"bonjour=false\nallowping=true\nautobanAttempts=0\n"
    )


def _message(kind: int, body: bytes = b"") -> bytes:
    return struct.pack(">HI", kind, len(body)) + body


def _received(stream: ssl.SSLSocket, kind: int) -> None:
    """Read messages up to one of a kind."""
    kept = b""
    while True:
        while len(kept) >= 6:
            found, size = struct.unpack(">HI", kept[:6])
            if len(kept) < 6 + size:
                break
            kept = kept[6 + size :]
            if found == kind:
                return
        part = stream.recv(65536)
        if not part:
            return
        kept += part


def _speaker(number: int, packets: int) -> None:
    """Log in, say so many packets over the stream, and ping the other way, which another thread answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    name = b"speaker%d" % number
    with closing(socket.create_connection(("127.0.0.1", PORT), timeout=120.0)) as plain:
        stream = context.wrap_socket(plain)
        stream.sendall(_message(VERSION, b"\x08\x80\x88\x14"))  # 1.4.0
        stream.sendall(_message(AUTHENTICATE, b"\x0a" + bytes([len(name)]) + name + b"\x28\x01"))
        _received(stream, SYNCHRONISED)
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as pinging:
            pinging.settimeout(2.0)
            pinging.connect(("127.0.0.1", PORT))
            for at in range(packets):
                voice = bytes([OPUS, at & 0x7F, 40]) + bytes(range(40))
                stream.sendall(_message(TUNNEL, voice))
                pinging.send(struct.pack(">IQ", 0, number * packets + at))
                try:
                    pinging.recv(100)
                except OSError:
                    continue
                if not at % 20:
                    stream.sendall(_message(PING))
                    _received(stream, PING)


def _speak(where: Path, turn: int) -> None:
    together(*(lambda n=n: _speaker(n, (10, 400)[turn]) for n in range((2, 6)[turn])))


def _sound(where: Path) -> None:
    """It would lower the limit of open files below what valgrind keeps for itself."""
    (where / "daemon.conf").write_text("rlimit-nofile = -1\n")


def _play(where: Path, turn: int) -> None:
    """Several streams into several sinks, and what one of them plays recorded again."""
    second = 44100 * 4
    (where / "sound").write_bytes(text_of(second * (1, 8)[turn]))
    at = f"--server=tcp:127.0.0.1:{PORT}"

    def player(number: int) -> None:
        run("pacat", at, "--raw", "-d", f"sink{number % 3}", "--latency-msec=40", f"{where}/sound")

    def recorder() -> None:
        run("timeout", ("2", "8")[turn], "parec", at, "--raw", "-d", "sink0.monitor", "--latency-msec=40")

    def asker() -> None:
        for _ in range((2, 20)[turn]):
            run("pactl", at, "list", "sink-inputs")
            run("pactl", at, "set-sink-volume", "sink1", "70%")
            time.sleep(0.2)

    together(recorder, asker, *(lambda n=n: player(n) for n in range((2, 5)[turn])))


SINKS = tuple(part for n in range(3) for part in ("-L", f"module-null-sink sink_name=sink{n}"))

ROWS = (
    Program(
        "murmurd",
        "mumble-server",
        ("/usr/sbin/murmurd", "-fg", "-ini", "{where}/ini"),
        _speak,
        _mumble,
        files=1024,
    ),
    Program(
        "pulseaudio",
        "pulseaudio",
        (
            *("/usr/bin/pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"),
            *("--disallow-exit", "--realtime=no", "--high-priority=no", "--disable-shm=yes"),
            *("-L", "module-native-protocol-tcp listen=127.0.0.1 port={port} auth-anonymous=1", *SINKS),
        ),
        _play,
        _sound,
        judged=(f"{PULSE}/libpulsecore-*.so", f"{PULSE}/libpulsecommon-*.so"),
        needs=("pulseaudio-utils",),
        environment=(
            ("HOME", "{where}"),
            ("PULSE_RUNTIME_PATH", "{where}/pulse"),
            ("PULSE_CONFIG", "{where}/daemon.conf"),
            ("LD_BIND_NOW", "1"),  # or it sets that and runs itself anew
        ),
    ),
)
