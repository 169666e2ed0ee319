"""The wheel: what is in it, what it needs, and that it does where it is installed what the checkout does."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import Installed

MAX_WHEEL_MB = 25
NATIVE = "linemate/elfscan/native/bin/"
# The C library of the distribution; everything else is linked in or lies beside.
SYSTEM = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


SHARED = (
    "data/share/man/man1/linemate",
    "data/share/bash-completion/completions/linemate",
    "data/share/fish/vendor_completions.d/linemate.fish",
    "data/share/zsh/site-functions/_linemate",
    "data/share/cmake/linemate/",
)


def test_nothing_but_the_package_and_its_metadata_is_in_it(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    release = wheel.name.split("-py3")[0]
    assert {name.split("/")[0] for name in names} == {"linemate", f"{release}.dist-info", f"{release}.data"}
    beside = [name.removeprefix(f"{release}.data/") for name in names if name.startswith(f"{release}.data/")]
    assert [name for name in beside if not name.startswith(SHARED)] == []  # below the prefix, not among the modules
    assert [name for name in names if name.endswith((".cpp", ".pyc", "CMakeLists.txt"))] == []
    assert {"linemate/py.typed", "linemate/sharing/knowledge/libraries/std.json"} <= set(names)
    assert wheel.stat().st_size < MAX_WHEEL_MB << 20


def test_every_tool_that_is_built_is_in_it(wheel: Path, repository: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        inside = {name.removeprefix(NATIVE) for name in archive.namelist() if name.startswith(NATIVE)}
    built = {path.name for path in (repository / "build/release/bin").iterdir() if path.is_file()}
    assert inside == built - {"linemate-confine-check"}  # that is for tests


def test_its_tools_need_the_c_library_alone_and_its_name_says_which(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tools = [name for name in archive.namelist() if name.startswith(NATIVE)]
        archive.extractall(tmp_path, tools)
    beside = {Path(name).name for name in tools}
    newest = (0, 0)
    for name in tools:
        shown = subprocess.run(
            ["readelf", "-dV", str(tmp_path / name)], capture_output=True, text=True, check=True
        ).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", shown))
        assert needed <= SYSTEM | beside, name
        assert set(re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", shown)) <= {"$ORIGIN"}, name
        newest = max([newest, *((int(a), int(b)) for a, b in re.findall(r"GLIBC_(\d+)\.(\d+)", shown))])
    assert f"-py3-none-manylinux_{newest[0]}_{newest[1]}_{os.uname().machine}.whl" in wheel.name


def test_auditwheel_agrees_with_the_name(wheel: Path) -> None:
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", str(wheel)], capture_output=True, text=True)
    tag = wheel.stem.split("-")[-1]
    assert f'"{tag}"' in " ".join(shown.stdout.split()), shown.stdout + shown.stderr


def test_only_the_package_comes_into_the_environment(installed: Installed, repository: Path) -> None:
    pinned = re.findall(r"^([\w.-]+)==", (repository / "requirements.txt").read_text(), re.M)
    listed = subprocess.run(
        [str(installed.python), "-I", "-m", "pip", "list", "--format=freeze"],
        capture_output=True,
        text=True,
        check=True,
    )
    have = {line.split("==")[0].lower().replace("_", "-") for line in listed.stdout.splitlines()}
    assert have - {"pip", "setuptools"} == {name.lower().replace("_", "-") for name in pinned} | {"linemate"}
    ours = {"analyzer", "bench", "elfscan", "fuzz", "pmu", "reports", "sharing", "testdata", "tests", "scripts"}
    assert {path.stem for path in installed.site.iterdir()} & ours == set()


def test_every_dependency_is_one_that_is_imported(repository: Path) -> None:
    declared = tomllib.loads((repository / "pyproject.toml").read_text())["project"]["dependencies"]
    names = {re.split(r"[<>=]", each)[0].lower() for each in declared}
    imported: set[str] = set()
    for package in ("analyzer", "elfscan", "linemate", "pmu", "reports", "sharing"):
        for path in (repository / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    imported.add(node.module.split(".")[0])
    assert names == {name for name in imported if name in names}


def test_a_programs_own_modules_and_ours_do_not_meet(installed: Installed, layouts: Path, tmp_path: Path) -> None:
    (tmp_path / "reports.py").write_text("name = 'mine'\n")
    (tmp_path / "sharing.py").write_text("raise SystemExit('linemate imported a module of the program')\n")
    (tmp_path / "main.py").write_text(
        "import sys, linemate, reports\n"
        "found = linemate.audit(sys.argv[1]).findings[0]\n"
        "print(reports.name, found.rule, type(found).__module__)\n"
    )
    done = subprocess.run(
        [str(installed.python), str(tmp_path / "main.py"), str(layouts / "slow")],
        env=installed.env,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.stdout, done.stderr) == ("mine hot-lock-shares-line linemate.sharing.model.finding\n", "")
    script = "import elfscan"
    done = subprocess.run([str(installed.python), "-I", "-c", script], capture_output=True, text=True, timeout=60)
    assert "No module named 'elfscan'" in done.stderr


@pytest.mark.parametrize("part", ["elfscan", "pmu", "analyzer"])
def test_a_part_can_be_run_on_its_own(installed: Installed, part: str) -> None:
    command = [str(installed.python), "-I", "-m", f"linemate.{part}", "--help"]
    done = subprocess.run(command, env=installed.env, capture_output=True, text=True, timeout=60)
    assert "usage" in (done.stdout + done.stderr).lower()
    assert "Traceback" not in done.stderr


def test_a_type_checker_knows_the_documents(installed: Installed, tmp_path: Path) -> None:
    good = (
        "import linemate\n\n\ndef worst(path: str) -> str | None:\n"
        "    report = linemate.audit(path, rules=['safe-by-luck'], min_severity=linemate.Severity.NOTE)\n"
        "    names = [part.name for finding in report.findings for part in finding.participants]\n"
        "    return max(names, default=None)\n"
    )
    bad = "import linemate\n\nreport = linemate.audit('x', colour=True)\nreport.finding\nlinemate.audits\n"
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "bad.py").write_text(bad)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(installed.python), "good.py", "bad.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert "good.py" not in done.stdout
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == ["3", "4", "5"]


def test_the_source_archive_makes_the_same_package(
    package: object, repository: Path, wheel: Path, tmp_path: Path
) -> None:
    assert callable(package)
    package("sdist", "-o", str(tmp_path))
    archive = next(tmp_path.glob("*.tar.gz"))
    subprocess.run(["tar", "-xf", str(archive), "-C", str(tmp_path)], check=True)
    tree = tmp_path / archive.name.removesuffix(".tar.gz")
    assert (tree / "analyzer/src/Main.cpp").exists()
    script = "import sys; sys.path.insert(0, 'packaging'); import backend; backend.stage(backend.STAGED)"
    subprocess.run([sys.executable, "-I", "-c", script], cwd=tree, check=True, timeout=60)
    pages = [sys.executable, "-I", "packaging/fromcommands.py", "build/package"]
    subprocess.run(pages, cwd=tree, check=True, timeout=60)
    assert (tree / "packaging/cmake/linemateConfig.cmake").exists()  # put in place by the build
    staged = {str(path.relative_to(tree / "build/package")) for path in (tree / "build").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as inside:
        names = [name.split(".data/data/")[-1] for name in inside.namelist()]
    built = re.compile(r".*/native/|[^/]*\.dist-info/|share/cmake/")
    assert staged == {name for name in names if not built.match(name)}
