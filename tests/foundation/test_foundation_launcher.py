"""scripts/linemate: what a start does, and when it sets up first.

The set-up itself is tested in a small checkout whose Python and CMake are stand-ins that log their calls:
the decisions are the script's own, the tools' work is not.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import linemate

HEAVY = {"click", "jinja2", "msgspec", "networkx", "numpy", "rich"}
PYTHON_STAND_IN = """
case "$*" in
  -VV) echo Python 3 ;;
  *"-S -c "*linemate*) shift 4; echo "ran $*"; pwd -P >"$LOG.folder" ;;
  *) echo "python $*" >>"$LOG" ;;
esac"""
CMAKE_STAND_IN = """
echo "cmake $*" >>"$LOG"
mkdir -p build/release
: >>build/release/CMakeCache.txt
exit "${CMAKE_EXIT:-0}\""""
# What the set-up itself runs, besides what it may find missing.
SHELL_TOOLS = ("bash", "cat", "find", "flock", "mkdir", "mv", "readlink", "sha256sum", "sort", "tail", "touch", "true")


@dataclass
class Checkout:
    root: Path
    env: dict[str, str]
    log: Path

    def start(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.root / "scripts/linemate"), *args], capture_output=True, text=True, env=self.env | env, timeout=60
        )

    def calls(self) -> list[str]:
        """What the stand-ins were asked since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def builds(self) -> int:
        return sum("--build" in call for call in self.calls())


def write_program(path: Path, body: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def checkout(repository: Path, tmp_path: Path) -> Checkout:
    """A checkout with the real scripts, one native source and stand-in tools, never set up before."""
    root = tmp_path / "checkout"
    shutil.copytree(repository / "scripts", root / "scripts")
    for name in (
        "CMakeLists.txt",
        "CMakePresets.json",
        "requirements.txt",
        "requirements-build.txt",
        "requirements-lsp.txt",
        "requirements-dev.txt",
    ):
        shutil.copy(repository / name, root)
    (root / "elfscan/native").mkdir(parents=True)
    (root / "elfscan/native/tool.cpp").write_text("int main() {}\n")
    (root / "analyzer/src").mkdir(parents=True)
    (root / "analyzer/CMakeLists.txt").write_text("add_executable(linemate-facts src/facts.cpp)\n")
    (root / "analyzer/src/facts.cpp").write_text("int main() {}\n")
    write_program(root / ".venv/bin/python", PYTHON_STAND_IN)
    tools = tmp_path / "tools"
    write_program(tools / "cmake", CMAKE_STAND_IN)
    for name in ("c++", "ninja"):
        write_program(tools / name, "exit 0")
    log = tmp_path / "log"
    return Checkout(root, {"PATH": f"{tools}:{os.environ['PATH']}", "LOG": str(log), "HOME": str(tmp_path)}, log)


@pytest.fixture(autouse=True)
def _needs_the_llvm_package() -> None:
    if not Path("/usr/lib/llvm-19/lib/cmake/llvm/LLVMConfig.cmake").exists():
        pytest.skip("no llvm-19-dev: set-up would stop at its absence")


def test_the_version_needs_no_library(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "linemate", "--version"],
        capture_output=True,
        text=True,
        cwd=repository,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert done.stdout == f"linemate {linemate.__version__}\n"
    assert "linemate" in imported
    assert imported & HEAVY == set()


def test_the_first_start_sets_up_and_runs(checkout: Checkout) -> None:
    done = checkout.start("audit", "a file", "--json")
    assert (done.returncode, done.stdout) == (0, "ran audit a file --json\n")
    assert done.stderr.endswith("linemate: build the native tools …\n\n"), "a blank line before what the command says"
    calls = checkout.calls()
    assert any("pip install" in call and call.endswith("/requirements-build.txt") for call in calls)
    assert any("--build" in call for call in calls)


def test_the_first_start_also_takes_paths_from_where_it_was_called(checkout: Checkout, tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    command = [str(checkout.root / "scripts/linemate"), "audit", "./program"]
    subprocess.run(command, env=checkout.env, cwd=work, check=True, capture_output=True, timeout=60)
    assert checkout.builds() == 1
    assert Path(f"{checkout.log}.folder").read_text() == f"{work.resolve()}\n"


def test_a_later_start_only_runs(checkout: Checkout) -> None:
    checkout.start()
    checkout.calls()
    done = checkout.start("--version")
    assert (done.stdout, done.stderr, checkout.calls()) == ("ran --version\n", "", [])


@pytest.mark.parametrize("source", ["elfscan/native/tool.cpp", "analyzer/src/facts.cpp"])
def test_an_edited_source_is_rebuilt_once(checkout: Checkout, source: str) -> None:
    checkout.start()
    checkout.calls()
    (checkout.root / source).write_text("int main() { return 1; }\n")
    checkout.start()
    assert checkout.builds() == 1
    checkout.start()
    assert checkout.builds() == 0


def test_an_older_copy_in_place_of_a_source_is_noticed(checkout: Checkout) -> None:
    checkout.start()
    checkout.calls()
    source = checkout.root / "elfscan/native/tool.cpp"
    source.write_text("int main() { return 2; }\n")
    os.utime(source, (1_000_000_000, 1_000_000_000))
    checkout.start()
    assert checkout.builds() == 1


def test_a_removed_source_is_noticed(checkout: Checkout) -> None:
    (checkout.root / "elfscan/native/other.h").write_text("// other\n")
    checkout.start()
    checkout.calls()
    (checkout.root / "elfscan/native/other.h").unlink()
    checkout.start()
    assert checkout.builds() == 1


def test_a_touched_source_is_not_rebuilt(checkout: Checkout) -> None:
    checkout.start()
    checkout.calls()
    (checkout.root / "elfscan/native/tool.cpp").touch()
    assert checkout.start().stderr == ""
    assert checkout.builds() == 0


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-build.txt"])
def test_a_changed_requirement_is_installed(checkout: Checkout, name: str) -> None:
    checkout.start()
    checkout.calls()
    with (checkout.root / name).open("a") as file:
        file.write("six==1.17.0\n")
    checkout.start()
    assert any("pip install" in call for call in checkout.calls())


def test_a_failed_build_names_the_step_and_is_tried_again(checkout: Checkout) -> None:
    done = checkout.start("audit", CMAKE_EXIT="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "failed: build the native tools" in done.stderr
    checkout.calls()
    assert checkout.start("audit").stdout == "ran audit\n"
    assert checkout.builds() == 1


def test_two_first_starts_build_once(checkout: Checkout) -> None:
    command = [str(checkout.root / "scripts/linemate")]
    both = [subprocess.Popen(command, env=checkout.env, stderr=subprocess.PIPE, stdout=subprocess.PIPE) for _ in "ab"]
    assert [process.communicate(timeout=60)[0] for process in both] == [b"ran \n", b"ran \n"]
    assert checkout.builds() == 1


def test_it_starts_from_anywhere_and_through_a_link(checkout: Checkout, tmp_path: Path) -> None:
    checkout.start()
    (tmp_path / "bin").mkdir()
    link = tmp_path / "bin/linemate"
    link.symlink_to(checkout.root / "scripts/linemate")
    done = subprocess.run([str(link), "x"], capture_output=True, text=True, cwd="/", env=checkout.env, timeout=60)
    assert (done.stdout, done.stderr) == ("ran x\n", "")


def test_without_rights_it_names_the_exact_packages(checkout: Checkout, tmp_path: Path) -> None:
    # A PATH with the standard tools and neither compiler nor cmake, as someone who is not root.
    tools = tmp_path / "bare"
    tools.mkdir()
    for name in SHELL_TOOLS:
        found = shutil.which(name)
        assert found
        (tools / name).symlink_to(found)
    write_program(tools / "id", "echo 1000")
    write_program(tools / "sudo", "exit 1")
    write_program(tools / "apt-get", 'echo "apt-get $*" >>"$LOG"')
    done = checkout.start("audit", PATH=str(tools))
    assert done.returncode == 2
    assert "sudo apt-get install -y --no-install-recommends g++ clang-19 cmake ninja-build" in done.stderr
    assert checkout.calls() == []


def test_modules_in_the_current_folder_are_not_imported(repository: Path, tmp_path: Path) -> None:
    """Someone's project may well have a folder called `reports`; analysing it must not run it."""
    if not (repository / ".venv/bin/python").exists():
        pytest.skip("no .venv: this checkout was never set up by scripts/linemate")
    (tmp_path / "linemate.py").write_text("raise SystemExit('hijacked')\n")
    done = subprocess.run(
        [str(repository / ".venv/bin/python"), "-I", "-m", "linemate", "--version"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert (done.returncode, done.stdout) == (0, f"linemate {linemate.__version__}\n")


def test_an_interrupt_while_python_starts_is_no_traceback(repository: Path) -> None:
    if not (repository / ".venv/bin/python").exists():
        pytest.skip("no .venv: this checkout was never set up by scripts/linemate")
    (start,) = re.findall(r"^start='(.*?)'$", (repository / "scripts/linemate").read_text(), re.DOTALL | re.MULTILINE)
    interrupted = start.replace("import site", "posix.kill(posix.getpid(), 2)\nimport site")
    assert interrupted != start
    for code, status in ((start, 0), (interrupted, 130)):
        done = subprocess.run(
            [str(repository / ".venv/bin/python"), "-I", "-S", "-c", code, "--version"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (status, "")
