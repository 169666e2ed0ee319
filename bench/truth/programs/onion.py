"""A network of onion routers on the loopback interface, of which one is counted.  Owns its row."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.truth.programs.program import PORT, Program, text_of, together, web_server

BEHIND, SOCKS = PORT + 1, PORT + 2
RELAYS = 3  # of which the first is counted: a circuit has three
AUTHORITY = RELAYS  # its number
READY_S = 240.0  # until all know of each other


def _ports(number: int) -> tuple[int, int]:
    """Where routers are asked for circuits, and the authority for the list of them."""
    return (PORT + 10 + 2 * number if number else PORT), PORT + 11 + 2 * number


def _configured(where: Path, number: int, authority: str) -> None:
    onion, directory = _ports(number)
    lines = (
        f"DataDirectory {where}/n{number}\nNickname node{number}\nAddress 127.0.0.1\nORPort 127.0.0.1:{onion}\n"
        f"TestingTorNetwork 1\nAssumeReachable 1\nNumCPUs 3\nSocksPort 0\nLog notice file {where}/n{number}.log\n"
        f"ContactInfo none\nExitRelay 1\nExitPolicyRejectPrivate 0\nExitPolicy accept 127.0.0.0/8:*\n"
        f"EnforceDistinctSubnets 0\n{authority}\n"
    )
    if number == AUTHORITY:
        lines += (
            f"DirPort 127.0.0.1:{directory}\nAuthoritativeDirectory 1\nV3AuthoritativeDirectory 1\n"
            "V3AuthVotingInterval 20\nV3AuthVoteDelay 4\nV3AuthDistDelay 4\nTestingV3AuthInitialVotingInterval 20\n"
            "TestingV3AuthInitialVoteDelay 4\nTestingV3AuthInitialDistDelay 4\nTestingMinExitFlagThreshold 0\n"
            "TestingDirAuthVoteExit *\nTestingDirAuthVoteGuard *\nTestingDirAuthVoteHSDir *\n"
        )
    (where / f"torrc{number}").write_text(lines)


def _keys(where: Path) -> None:
    """The authority's keys first: everybody's configuration names it."""
    keys = where / f"n{AUTHORITY}" / "keys"
    keys.mkdir(parents=True)
    for folder in (keys, keys.parent):
        folder.chmod(0o700)
    onion, directory = _ports(AUTHORITY)
    made = ["tor-gencert", "--create-identity-key", "-m", "12", "-a", f"127.0.0.1:{directory}", "--passphrase-fd", "0"]
    subprocess.run(made, input=b"none\n", cwd=keys, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    identity = re.search(r"^fingerprint (\w+)", (keys / "authority_certificate").read_text(), re.M)
    assert identity is not None
    _configured(where, AUTHORITY, f"DirAuthority none 127.0.0.1:{directory} {'0' * 40}")
    command = ["tor", "-f", f"{where}/torrc{AUTHORITY}", "--list-fingerprint", "--quiet"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    fingerprint = "".join(told.split()[1:])
    authority = (
        f"DirAuthority node{AUTHORITY} orport={onion} no-v2 v3ident={identity[1]} 127.0.0.1:{directory} {fingerprint}"
    )
    for number in range(AUTHORITY + 1):
        _configured(where, number, authority)
    (where / "client").write_text(
        f"DataDirectory {where}/c\nTestingTorNetwork 1\nSocksPort 127.0.0.1:{SOCKS}\nUseEntryGuards 0\n"
        f"EnforceDistinctSubnets 0\nLog notice file {where}/client.log\n{authority}\n"
    )
    (where / "pages").mkdir()
    (where / "pages/page").write_bytes(text_of(30_000))


@contextmanager
def _others(where: Path) -> Iterator[None]:
    """All but the counted one, and what is asked for in the end."""
    files = [f"{where}/torrc{number}" for number in range(1, AUTHORITY + 1)] + [f"{where}/client"]
    with web_server(where / "pages", BEHIND):
        started = [subprocess.Popen(["tor", "-f", file, "--quiet"], stdin=subprocess.DEVNULL) for file in files]
        try:
            yield
        finally:
            for one in started:
                one.kill()
            for one in started:
                one.wait()


def _fetched(user: str) -> bool:
    """The page by a circuit of this user's own."""
    name = user.encode()
    with closing(socket.create_connection(("127.0.0.1", SOCKS), timeout=60.0)) as asking:
        asking.sendall(b"\x05\x01\x02")
        asking.recv(2)
        asking.sendall(b"\x01" + bytes([len(name)]) + name + b"\x01p")
        asking.recv(2)
        asking.sendall(b"\x05\x01\x00\x01\x7f\x00\x00\x01" + BEHIND.to_bytes(2, "big"))
        if asking.recv(10)[1:2] != b"\x00":
            return False
        asking.sendall(b"GET /page HTTP/1.0\r\n\r\n")
        while asking.recv(65536):
            pass
    return True


def _circuits(where: Path, turn: int) -> None:
    if not turn:
        end = time.monotonic() + READY_S
        while time.monotonic() < end:
            try:
                if _fetched("first"):
                    return
            except OSError:
                pass
            time.sleep(2.0)
        return

    def user(number: int) -> None:
        for at in range(15):
            try:
                _fetched(f"u{number}-{at}")
            except OSError:
                continue

    together(*(lambda n=n: user(n) for n in range(6)))


ROWS = (
    Program(
        "tor",
        "tor",
        ("/usr/bin/tor", "-f", "{where}/torrc0"),
        _circuits,
        _keys,
        beside=_others,
        files=1100,
    ),
)
