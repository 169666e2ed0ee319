"""What every test may use: where this checkout is, and where the real servers are.

Owns fixtures without an area; each area's own are in its conftest.py.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from types import FrameType

import pytest
from hypothesis import HealthCheck, settings

from tests.alone import among_others

REPOSITORY = Path(__file__).resolve().parent.parent

# Far above what any test needs, so that a tool that hangs costs one test and not the run.
_LIMIT_S = 120


def _bounded() -> Generator[None, object, object]:
    # Raised within the phase that hangs: subprocess.run then kills its child.
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {_LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_LIMIT_S)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Bytes get a number instead of their text: a name must be the same in every worker, whatever the bytes hold."""
    return argname if isinstance(val, bytes) else None


# Rooms whose tests sample this machine, or act on processes while they run: what else the machine does at that moment
# decides about some of them.  Such a test fails where it fails twice; the last lines of a run name those tried again.
_OF_THE_MACHINE = frozenset({"gain", "gates", "process", "record"})


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent.name in _OF_THE_MACHINE:
            item.add_marker(pytest.mark.flaky(reruns=1))


# Whoever runs the tests keeps their own: reports that ``linemate show`` finds again, facts, journals, perf's binaries.
_PLACES = {"LINEMATE_CACHE": "cache", "XDG_STATE_HOME": "state", "PERF_BUILDID_DIR": "perf"}
_OWN_PLACES = "LINEMATE_TESTS_PLACES"  # set by the process that starts the workers, which share the folder


def pytest_configure() -> None:
    """What the tests' own start would change: interrupts that a shell in the background ignores, the width of text."""
    if _OWN_PLACES not in os.environ:
        folder = tempfile.mkdtemp(prefix="linemate-tests-places-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ |= {_OWN_PLACES: folder, **{name: os.path.join(folder, place) for name, place in _PLACES.items()}}
    os.environ.pop("COLUMNS", None)
    os.unsetenv("COLUMNS")  # readline, which pytest imports, sets it behind the back of os.environ
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP):  # nohup ignores the latter
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    # Hypothesis gives an example 200 ms of the clock, which a loaded machine does not always have.  Before any test is
    # imported: settings that a test makes keep the deadline of the time at which they are made.
    settings.register_profile("without deadline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("without deadline")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Leave what is collected, which lasts as long as the run, out of each search for garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    with among_others():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, object, object]:
    return (yield from _bounded())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, object, object]:
    return (yield from _bounded())


# Where Debian puts the servers that tests read, and which package brings each.
_SERVERS = {
    "mariadbd": ("usr/sbin/mariadbd", "mariadb-server-core"),
    "postgres": ("usr/lib/postgresql/15/bin/postgres", "postgresql-15"),
    "redis-server": ("usr/bin/redis-check-rdb", "redis-tools"),  # redis-server is a link to it
    "memcached": ("usr/bin/memcached", "memcached"),
}


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of this checkout."""
    return REPOSITORY


Once = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """A folder that is filled once a run, however many workers ask for it: nobody changes it."""
    base = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent

    def filled(name: str, fill: Callable[[Path], None]) -> Path:
        folder = base / f"once-{name}"
        with (base / f"once-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (base / f"once-{name}.done").exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                (base / f"once-{name}.done").touch()
        return folder

    return filled


@pytest.fixture(scope="session")
def layouts(once: Once) -> Path:
    """slow, fast and padded of testdata/programs/table_cache as its Makefile builds them, and its sources: a folder."""
    for tool in ("g++", "make"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}")

    def build(folder: Path) -> None:
        program = REPOSITORY / "testdata/programs/table_cache"
        for source in program.glob("*.[ch]*"):
            shutil.copy(source, folder)
        command = ["make", "-s", "-f", str(program / "Makefile"), f"OUT={folder}", "CXX=g++"]
        subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, timeout=100)

    return once("layouts", build)


@pytest.fixture(scope="session")
def server() -> Callable[[str], Path]:
    """A real server binary by name, from $LINEMATE_CORPUS or the system; skips where neither has it."""

    def find(name: str) -> Path:
        relative, package = _SERVERS[name]
        corpus = os.environ.get("LINEMATE_CORPUS")
        for root in ([Path(corpus)] if corpus else []) + [Path("/")]:
            if (root / relative).is_file():
                return root / relative
        pytest.skip(f"no {name}: neither the corpus nor the system has Debian's {package}")

    return find


@pytest.fixture(scope="session")
def vmlinux() -> Path:
    """A kernel image with debug information; skips where none is installed, since it is too big to fetch."""
    found = sorted(Path("/usr/lib/debug/boot").glob("vmlinux-*"))
    if not found:
        pytest.skip("no vmlinux: Debian's linux-image-*-dbg is not installed")
    return found[-1]
