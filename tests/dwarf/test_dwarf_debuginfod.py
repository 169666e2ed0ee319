"""Debug information over HTTP: fetched once by build-id, checked, bounded, and only where the user asked for it."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from elfscan.debug import debugfile
from elfscan.debug.debugfile import DebugLinks, build_id_file, build_id_of, find_debug, missing_debug
from linemate import debuginfod
from linemate.cli import main
from linemate.debuginfod import find_debug_files
from linemate.distribution import distribution, package_of, unpacked_from, where_names_are
from sharing.model.errors import LinemateError

SOURCE = "struct pair { long a, b; } pair; int main(void) { return (int)pair.a; }\n"


@dataclass
class Server:
    """Answers what ``files`` has by build-id, ``moved`` with a redirection; ``asked`` are the paths of requests."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    moved: str = ""
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            made.asked.append(self.path)
            build_id = self.path.removeprefix("/buildid/").removesuffix("/debuginfo")
            body = made.files.get(build_id, b"")
            self.send_response(302 if made.moved else 200 if body else 404)
            if made.moved:
                self.send_header("Location", made.moved)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, args=(0.01,))
    thread.start()
    yield made
    listening.shutdown()
    thread.join()
    listening.server_close()


@dataclass(frozen=True)
class Split:
    """A stripped program, and what its debug file holds."""

    program: Path
    build_id: str
    debug: bytes


@pytest.fixture(scope="module")
def split(run: Callable[..., str], build: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Split:
    folder = tmp_path_factory.mktemp("split")
    whole = build("gcc", "c", SOURCE, "-Wl,--build-id")
    run("objcopy", "--only-keep-debug", whole, folder / "debug")
    run("strip", "-o", folder / "program", whole)
    build_id = build_id_of(str(whole))
    assert build_id is not None
    return Split(folder / "program", build_id, (folder / "debug").read_bytes())


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, no address in the environment, no folder but the system's to search."""
    monkeypatch.setenv("LINEMATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(debuginfod.URLS, raising=False)
    monkeypatch.setattr(debugfile, "_ROOTS", ["/usr/lib/debug"])
    return tmp_path / "cache/debug"


def fetched(program: Path, *, asked: bool = True) -> list[str]:
    """What was said."""
    said: list[str] = []
    find_debug_files([str(program)], asked=asked, say=said.append)
    return said


def found(split: Split) -> str | None:
    return find_debug(str(split.program), DebugLinks(build_id=split.build_id)).main


def test_it_is_fetched_once_and_found_from_then_on(
    server: Server, split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files[split.build_id] = split.debug
    monkeypatch.setenv(debuginfod.URLS, f"http://127.0.0.1:1/ {server.url}/")  # nobody listens at the first
    for _ in range(2):
        assert fetched(split.program, asked=False) == []
    assert server.asked == [f"/buildid/{split.build_id}/debuginfo"]
    assert found(split) == build_id_file(str(cache), split.build_id)
    monkeypatch.delenv(debuginfod.URLS)
    assert fetched(split.program, asked=False) == []
    assert missing_debug(str(split.program)) is None


def test_nobody_is_asked_who_was_not_named(
    server: Server, split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debuginfod, "_fetch", lambda *_: pytest.fail("asked"))
    assert fetched(split.program, asked=False) == []
    assert debuginfod.servers(asked=True) == (distribution().debuginfod,)


def test_that_nobody_answered_stands_in_the_report_with_another_way(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(debuginfod.URLS, "http://127.0.0.1:1")  # nobody listens
    out = tmp_path / "report.json"
    main(["audit", str(split.program), "--debuginfod", "-o", str(out), "--fail-on", "never"])
    notes = json.loads(out.read_text())["coverage"]["notes"]
    assert notes[0].startswith("debuginfod: http://127.0.0.1:1 could not be reached (")
    assert "the debug package of its distribution" in notes[1]
    assert "--debug-file FILE" in notes[1]
    assert capfd.readouterr().err.count("http://127.0.0.1:1 could not be reached") == 1  # the report went elsewhere
    main(["audit", str(split.program), "--debuginfod", "--fail-on", "never"])
    shown = capfd.readouterr()
    assert "127.0.0.1" not in shown.err
    assert shown.out.count("debuginfod: ") == 1
    monkeypatch.delenv(debuginfod.URLS)
    main(["audit", str(split.program), "-o", str(out), "--fail-on", "never"])
    assert not any("debuginfod" in note for note in json.loads(out.read_text())["coverage"]["notes"])


def test_a_server_that_cannot_be_reached_is_asked_once_and_not_advised_again(
    split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    shutil.copy(split.program, other)
    monkeypatch.setenv(debuginfod.URLS, "http://127.0.0.1:1")  # nobody listens
    said: list[str] = []
    find_debug_files([str(split.program), str(other)], asked=True, say=said.append)
    assert len(said) == 1
    asked = ["explain", str(split.program), str(other)]
    main([*asked, "--debuginfod"])
    shown = capfd.readouterr()
    assert (shown.out + shown.err).count("could not be reached") == 1
    assert "linemate explain --debuginfod" not in shown.out
    assert "no server gave any" in " ".join(shown.out.split())


@pytest.mark.parametrize("body", [b"", b"\x7fELF no more", b"<html>blocked</html>"])
def test_what_is_not_the_file_is_not_kept(
    server: Server, split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch, body: bytes
) -> None:
    server.files[split.build_id] = body
    monkeypatch.setenv(debuginfod.URLS, server.url)
    (said,) = fetched(split.program)
    assert server.url in said
    assert ("another build-id" if body else "has nothing for") in said
    assert found(split) is None
    assert [path for path in cache.rglob("*") if path.is_file()] == []


def test_more_than_the_bound_is_not_read(
    server: Server, split: Split, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files[split.build_id] = split.debug
    monkeypatch.setenv(debuginfod.URLS, server.url)
    monkeypatch.setattr(debuginfod, "MAX_BYTES", len(split.debug) - 1)
    assert "sends more than" in fetched(split.program)[0]
    assert found(split) is None
    monkeypatch.setattr(debuginfod, "MAX_BYTES", len(split.debug))
    assert fetched(split.program) == []


def test_no_server_leads_to_a_file_of_this_machine(
    server: Server, split: Split, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_bytes(split.debug)
    server.moved = (tmp_path / "secret").as_uri()
    monkeypatch.setenv(debuginfod.URLS, server.url)
    assert len(fetched(split.program)) == 1
    assert found(split) is None
    monkeypatch.setenv(debuginfod.URLS, server.moved)
    with pytest.raises(LinemateError, match="no address of http"):
        fetched(split.program)


def test_the_common_file_of_dwz_is_fetched_as_well(
    server: Server,
    run: Callable[..., str],
    tool: Callable[[str], str],
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tool("dwz")
    (tmp_path / "a.c").write_text(SOURCE + "".join(f"struct s{i} {{ int a{i}; }} v{i};\n" for i in range(60)))
    for name in ("one", "two"):
        run("gcc", "-gdwarf-4", "-Wl,--build-id", "-o", name, "a.c", cwd=tmp_path)
    run("dwz", "-m", "common", "-M", "/gone/common", "one", "two", cwd=tmp_path)
    common = build_id_of(str(tmp_path / "common"))
    assert missing_debug(str(tmp_path / "one")) == common
    assert common is not None
    server.files[common] = (tmp_path / "common").read_bytes()
    monkeypatch.setenv(debuginfod.URLS, server.url)
    assert fetched(tmp_path / "one") == []
    assert missing_debug(str(tmp_path / "one")) is None


def test_what_is_no_program_is_for_others_to_say(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "System.map").write_text("0 D a\n")
    monkeypatch.setenv(debuginfod.URLS, server.url)
    assert fetched(tmp_path / "System.map") == fetched(tmp_path / "missing") == server.asked == []


@pytest.mark.parametrize(
    ("release", "server", "archive"),
    [
        ('ID=debian\nVERSION_CODENAME="trixie"\n', "https://debuginfod.debian.net", "trixie-debug main"),
        ("ID=linuxmint\nID_LIKE='ubuntu debian'\nVERSION_CODENAME=noble\n", "https://debuginfod.ubuntu.com", " noble "),
        ("ID=fedora\n", "https://debuginfod.fedoraproject.org", ""),
        ("nothing\n", "https://debuginfod.elfutils.org", ""),
    ],
)
def test_the_distribution_decides_where(release: str, server: str, archive: str, tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text(release)
    found = distribution(tmp_path / "os-release")
    assert found.debuginfod == server
    assert archive in found.archive


def test_the_package_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "bash.list").write_text("/.\n/bin\n/bin/bash\n/usr/bin/bashbug\n")
    (tmp_path / "libc6:amd64.list").write_text("/usr/lib/x86_64-linux-gnu/libc.so.6\n")
    (tmp_path / "aa.list").mkdir()
    (tmp_path / "ab.list").symlink_to("nowhere")
    os.mkfifo(tmp_path / "ac.list")
    assert package_of("/usr/bin/bash", tmp_path) == "bash"  # /bin is a link to /usr/bin
    assert package_of("/usr/lib/x86_64-linux-gnu/libc.so.6", tmp_path) == "libc6"
    assert package_of("/usr/bin/bashb", tmp_path) == ""


def test_a_file_that_was_unpacked_is_of_the_package_that_has_its_path(tmp_path: Path) -> None:
    lists = tmp_path / "lists"
    lists.mkdir()
    (lists / "server-core.list").write_text("/.\n/usr/sbin/served\n")
    for path, package in (("old/usr/sbin/served", "server-core"), ("usr/sbin/other", ""), ("sbin/served", "")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("")
        assert unpacked_from(str(tmp_path / path), lists) == package


def test_a_file_of_ones_own_has_no_hint(split: Split) -> None:
    assert where_names_are(str(split.program), again="linemate audit --debuginfod FILE") == ""
    if shutil.which("dpkg"):
        found = where_names_are(shutil.which("dpkg") or "", again="linemate audit --debuginfod FILE")
        assert "apt install dpkg-dbgsym" in found
        assert "`linemate audit --debuginfod FILE` fetches it" in found


def test_a_file_of_a_distribution_has_the_command_and_no_package_that_nobody_knows(tmp_path: Path) -> None:
    path = tmp_path / "unpacked/usr/sbin/such-a-server-is-in-no-package"
    path.parent.mkdir(parents=True)
    path.write_text("")
    for asked, told in ((False, "`linemate explain --debuginfod a b` fetches it from"), (True, "the debug package of")):
        found = where_names_are(str(path), again="linemate explain --debuginfod a b", asked=asked)
        assert told in found
        assert "servers have no" not in found
        assert "PACKAGE" not in found
        assert "apt install" not in found


def test_servers_have_nothing_only_if_one_of_them_said_so(
    server: Server, split: Split, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "unpacked/usr/sbin/such-a-server-is-in-no-package"
    path.parent.mkdir(parents=True)
    shutil.copy(split.program, path)
    for urls, said in ((server.url, True), ("http://127.0.0.1:1", False), (f"http://127.0.0.1:1 {server.url}", True)):
        monkeypatch.setenv(debuginfod.URLS, urls)
        denied = find_debug_files([str(path)], asked=True, say=lambda text: None)
        assert (str(path) in denied) == said
        found = where_names_are(str(path), again="linemate audit", asked=True, denied=bool(denied))
        assert ("servers have no debug information" in found) == said
        assert ("no server gave any" in found) != said
