"""table_cache from its source: predicted, from object files, at link addresses, and beside its binary.

Owns the end-to-end statements about the founding case; single steps are tested beside this file.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "testdata" / "programs" / "table_cache"
UNITS = ("table_share", "sys_vars", "table_cache", "main")
DEFINES = {"slow": ["-DEXTRA_SYSVAR"], "fast": [], "padded": ["-DEXTRA_SYSVAR", "-DPADDED"]}
PAIR = {"LOCK_open", "unused_tables"}


@pytest.fixture(scope="module")
def built(layouts: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The three layouts and their object files, each with its compile database ``LAYOUT.json`` beside it."""
    out = shutil.copytree(layouts, tmp_path_factory.mktemp("tc") / "built")
    for layout, defines in DEFINES.items():
        rows = [
            {
                "directory": str(SOURCES),
                "file": str(SOURCES / f"{unit}.cc"),
                "arguments": ["g++", "-std=c++17", "-O2", "-pthread", *defines, "-c", str(SOURCES / f"{unit}.cc")],
            }
            for unit in UNITS
        ]
        (out / f"{layout}.json").write_text(json.dumps(rows))
    return out


def run(*arguments: str, expect: int) -> Any:
    command = [sys.executable, "-m", "linemate", *arguments, "--format", "json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == expect, done.stderr
    return json.loads(done.stdout)


def check(database: Path, *more: str, expect: int) -> Any:
    return run("check", "-p", str(database), "--no-cache", *more, expect=expect)


def pairs(report: Any, *, at_least: tuple[str, ...] = ("high", "medium")) -> list[set[str]]:
    return [{p["name"] for p in f["participants"]} for f in report["findings"] if f["severity"] in at_least]


@pytest.mark.parametrize("layout", ["slow", "fast"])
def test_source_alone_names_the_pair_and_says_that_it_is_a_matter_of_position(built: Path, layout: str) -> None:
    report = check(built / f"{layout}.json", expect=1)
    assert pairs(report) == [PAIR]
    (finding,) = [f for f in report["findings"] if f["severity"] == "high"]
    assert finding["rule"] == "hot-lock-shares-line"
    assert finding["line"]["place"] == "a line of .bss"
    assert any("1 of the 2 offsets" in e["text"] for e in finding["evidence"])
    lock = next(p for p in finding["participants"] if p["name"] == "LOCK_open")
    declared = next(n for n, text in enumerate((SOURCES / "table_cache.cc").read_text().splitlines(), 1)
                    if text.startswith("Open_mutex LOCK_open"))  # fmt: skip
    assert lock["source"] == f"{SOURCES}/table_cache.cc:{declared}:12"
    assert {"locks", "writes", "reads"} <= {r["verb"] for r in finding["related"]}
    assert any(r["under"] == ["LOCK_open.m_mutex"] for r in finding["related"] if r["function"] == "link_unused")


def test_the_padded_source_is_clean(built: Path) -> None:
    assert not check(built / "padded.json", expect=0)["findings"]


def test_object_files_say_the_same_as_the_prediction(built: Path) -> None:
    report = check(built / "slow.json", "--objects", str(built / "slow.d"), expect=1)
    assert pairs(report) == [PAIR]


def test_at_link_addresses_the_slow_layout_is_certain(built: Path) -> None:
    report = check(built / "slow.json", "--binary", str(built / "slow"), expect=1)
    assert pairs(report) == [PAIR]
    (finding,) = [f for f in report["findings"] if f["severity"] == "high"]
    assert not finding["line"].get("place")
    audited = run("audit", str(built / "slow"), expect=1)
    assert finding["line"]["address"] == audited["findings"][0]["line"]["address"]


def test_at_link_addresses_the_fast_layout_is_safe_by_luck(built: Path) -> None:
    report = check(built / "fast.json", "--binary", str(built / "fast"), expect=0)
    assert not pairs(report)
    assert [f["rule"] for f in report["findings"] if {p["name"] for p in f["participants"]} == PAIR] == ["safe-by-luck"]


def test_facts_beside_the_binary_add_places_and_locks(built: Path) -> None:
    from analyzer.run import run_facts
    from linemate.options import FactsRequest

    facts = run_facts(FactsRequest(database=str(built / "slow.json")))
    (finding,) = run("audit", str(built / "slow"), "--facts", str(facts), expect=1)["findings"]
    assert {p["identity"] for p in finding["participants"]} == PAIR
    assert all(p["source"].count(":") == 2 for p in finding["participants"])
    assert any(r["function"] == "link_unused" and r["under"] for r in finding["related"])
    assert any(
        "in source, unused_tables.first: 4 of 5 accesses under LOCK_open" in e["text"] for e in finding["evidence"]
    )
