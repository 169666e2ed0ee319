"""Caches and file servers, with clients that fetch and keep files.  Owns their rows."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bench.truth.programs.program import PORT, Program, run, text_of, together, web_server

BEHIND = PORT + 1  # what caches fetch from
PAGES = 40
LIBRARIES = "/lib/x86_64-linux-gnu"


def _pages(where: Path) -> None:
    """Files behind a cache."""
    (where / "pages").mkdir()
    for number in range(PAGES):
        (where / f"pages/{number}").write_bytes(text_of(500 + 900 * (number % 9), number))


def _varnish(where: Path) -> None:
    _pages(where)
    (where / "state").mkdir()
    backend = f'backend default {{ .host = "127.0.0.1"; .port = "{BEHIND}"; }}'
    (where / "default.vcl").write_text(f"vcl 4.1;\n{backend}\n")


def _through(where: Path, turn: int) -> None:
    """Requests for files behind a cache, most of them again and again."""
    with web_server(where / "pages", BEHIND):
        for number in range((4, PAGES)[turn]):
            run("ab", "-q", "-s", "60", "-k", "-c", "4", "-n", ("8", "30")[turn], f"http://127.0.0.1:{PORT}/{number}")


def _squid(where: Path) -> None:
    """A cache on disk, which threads of its own read and write."""
    _pages(where)
    where.chmod(0o777)
    (where / "cache").mkdir()
    (where / "cache").chmod(0o777)
    (where / "conf").write_text(
        f"http_port 127.0.0.1:{PORT}\ncache_dir aufs {where}/cache 64 4 4\ncache_mem 256 KB\n"
        f"maximum_object_size_in_memory 1 KB\nmemory_pools off\npid_filename none\naccess_log none\n"
        f"cache_log {where}/cache.log\ncache_store_log none\nhttp_access allow all\nvisible_hostname here\n"
        f"pinger_enable off\nrefresh_pattern . 60 100% 600 ignore-reload\nmax_filedescriptors 900\n"
    )
    command = ["/usr/sbin/squid", "-N", "-z", "-f", f"{where}/conf"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL, user="proxy")


def _by_proxy(where: Path, turn: int) -> None:
    """Each page several times by several clients; most come from the disk."""
    proxy = ("ab", "-q", "-s", "60", "-X", f"127.0.0.1:{PORT}", "-c", "6", "-n", ("6", "36")[turn])
    with web_server(where / "pages", BEHIND):
        for number in range((4, PAGES)[turn]):
            run(*proxy, f"http://127.0.0.1:{BEHIND}/{number}")


def _ganesha(where: Path) -> None:
    """A file system in memory, over version 4 of the protocol alone: the others ask a service of the system."""
    (where / "ganesha.conf").write_text(
        f"NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {PORT}; Bind_addr = 127.0.0.1; Enable_NLM = false; "
        f"Enable_RQUOTA = false; Nb_Worker = 4; }}\nNFSv4 {{ Graceless = true; RecoveryRoot = {where}; }}\n"
        f"EXPORT {{ Export_Id = 1; Path = /e; Pseudo = /e; Protocols = 4; Access_Type = RW; Squash = No_Root_Squash; "
        f"SecType = sys; FSAL {{ Name = MEM; }} }}\n"
    )
    (where / "file").write_bytes(text_of(60_000))


def _mounted(where: Path, turn: int) -> None:
    """Clients that copy files there, list them and read them."""
    options = f"version=4&nfsport={PORT}"

    def client(number: int) -> None:
        for at in range((1, 6)[turn]):
            url = f"nfs://127.0.0.1/e/f{number}-{at}?{options}"
            run("nfs-cp", f"{where}/file", url)
            run("nfs-ls", f"nfs://127.0.0.1/e?{options}")
            run("nfs-cat", url)

    together(*(lambda n=n: client(n) for n in range((1, 4)[turn])))


ROWS = (
    Program(
        "varnishd",
        "varnish",
        (
            *("/usr/sbin/varnishd", "-F", "-j", "none", "-n", "{where}/state", "-a", "127.0.0.1:{port}"),
            *("-f", "{where}/default.vcl", "-s", "default,8m", "-p", "cli_timeout=300"),
            *("-p", "thread_pool_min=10", "-p", "thread_pool_max=10", "-p", "thread_pool_stack=512k"),
        ),
        _through,
        _varnish,
        needs=("apache2-utils",),
        forks=True,
    ),
    Program(
        "squid",
        "squid",
        ("/usr/sbin/squid", "-N", "-f", "{where}/conf"),
        _by_proxy,
        _squid,
        needs=("apache2-utils",),
        files=1024,
        user="proxy",
    ),
    Program(
        "nfs-ganesha",
        "nfs-ganesha",
        (
            *("/usr/bin/ganesha.nfsd", "-F", "-f", "{where}/ganesha.conf", "-L", "{where}/ganesha.log"),
            *("-p", "{where}/pid"),
        ),
        _mounted,
        _ganesha,
        judged=("/usr/lib/ganesha/libganesha_nfsd.so.*", f"{LIBRARIES}/libntirpc.so.*"),
        needs=("nfs-ganesha-mem", "libnfs-utils"),
        files=4096,
    ),
)
