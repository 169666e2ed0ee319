"""The server core with three layouts, judged from its source alone, with its object files, and where it was linked."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from linemate.cli import main
from tests.check.repositories import need_analyzer

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "testdata" / "programs" / "table_cache"
FLAGS = ("-O2", "-std=c++17", "-fno-rtti", "-fno-exceptions", "-pthread")
DEFINES = {"slow": ("-DEXTRA_SYSVAR",), "fast": (), "padded": ("-DEXTRA_SYSVAR", "-DPADDED")}
TOGETHER = ("hot-lock-shares-line", "high", ["LOCK_open", "unused_tables"])

Check = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three layouts by name, their object files in NAME.d."""
    if shutil.which("g++") is None or shutil.which("make") is None:
        pytest.skip("no g++ or no make")
    out = tmp_path_factory.mktemp("table_cache")
    make = ["make", "-s", "-f", str(SOURCES / "Makefile"), f"OUT={out}", "CXX=g++"]
    subprocess.run(make, cwd=ROOT, check=True, capture_output=True)
    return out


@pytest.fixture
def check(capfd: pytest.CaptureFixture[str]) -> Check:
    """``check("slow", …)``: the findings about that layout."""
    need_analyzer()

    def run(layout: str, *arguments: str) -> list[dict[str, Any]]:
        capfd.readouterr()
        sources = [str(path) for path in sorted(SOURCES.glob("*.cc"))]
        main(["check", *sources, "--format", "json", *arguments, "--", *FLAGS, *DEFINES[layout]])
        return list(json.loads(capfd.readouterr().out)["findings"])

    return run


def verdicts(findings: list[dict[str, Any]]) -> list[tuple[str, str, list[str]]]:
    return [(f["rule"], f["severity"], [who["name"] for who in f["participants"][:2]]) for f in findings]


@pytest.mark.parametrize("layout", ["slow", "fast"])
def test_source_alone_names_the_pair(check: Check, layout: str) -> None:
    """What is linked before the unit decides whether they meet; the unit itself keeps them close enough to."""
    findings = check(layout)
    assert TOGETHER in verdicts(findings)
    assert "1 of the 2 offsets" in json.dumps(findings[0]["evidence"])
    assert findings[0]["line"]["place"] == "a line of .bss"


def test_source_alone_clears_the_padded_layout(check: Check) -> None:
    assert verdicts(check("padded")) == []


def test_object_files_say_the_same_as_the_model(check: Check, built: Path) -> None:
    for layout in DEFINES:
        objects = check(layout, "--objects", str(built / f"{layout}.d"))
        assert verdicts(objects)[:1] == verdicts(check(layout))[:1], layout


@pytest.mark.parametrize(
    ("layout", "expected"),
    [
        ("slow", [TOGETHER]),
        ("fast", [("safe-by-luck", "low", ["LOCK_open", "unused_tables"])]),
        ("padded", []),
    ],
)
def test_where_it_was_linked_the_verdict_is_the_audits(
    check: Check, built: Path, layout: str, expected: list[Any]
) -> None:
    findings = check(layout, "--binary", str(built / layout))
    assert verdicts(findings) == expected
    assert all(finding["line"]["place"] == "" for finding in findings)


def test_places_in_source_come_with_the_findings_of_a_binary(
    check: Check, built: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """``audit --facts``: what was found in the binary, and where in the source it is."""
    from analyzer.run import run_facts
    from linemate.options import FactsRequest

    check("slow")
    sources = tuple(str(path) for path in sorted(SOURCES.glob("*.cc")))
    stream = run_facts(FactsRequest(sources=sources, flags=(*FLAGS, *DEFINES["slow"])))
    capfd.readouterr()
    assert main(["audit", str(built / "slow"), "--facts", str(stream), "--format", "json"]) == 1
    (finding,) = json.loads(capfd.readouterr().out)["findings"]
    assert [who["name"] for who in finding["participants"]] == ["LOCK_open", "unused_tables"]
    places = {access["source"].rpartition("/")[2].split(":")[0] for access in finding["related"]}
    assert "table_cache.cc" in places
