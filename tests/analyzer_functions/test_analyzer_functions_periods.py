"""What source does once in a period by a clock is rare; what differs each time it is asked is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sharing.model.clocktimes import ClockTime, clock_time_of
from tests.analyzer_functions.facts_in_words import read_unit, rows, tool

SELDOM = 40
USUAL_LIMIT = 16
TABLE = Path(__file__).resolve().parents[2] / "analyzer/src/function/ClockTimes.cpp"
FIXTURE = Path(__file__).resolve().parents[1] / "access/rounds/periods.c"

needs_tool = pytest.mark.skipif(tool() is None, reason="linemate-facts is not built")

CPP = """
#include <atomic>
#include <chrono>
#include <ctime>
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
static int seen; static std::atomic<std::time_t> kept; static Clock::time_point next, before;
bool work();
void f() { auto last = Clock::now(); while (work()) { %s } }
"""
PERIODS = [
    "auto now = Clock::now(); if (now - last > 1s) { last = now; seen = 1; }",
    "auto now = Clock::now(); if (now - last >= std::chrono::milliseconds(100)) { seen = 1; last = now; }",
    "auto now = Clock::now(); if (now >= next) { next = now + 5s; seen = 1; }",
    "auto now = Clock::now(); if (now >= next) { seen = 1; next += 5s; }",
    "auto d = Clock::now() - before; if (d < 20ms) continue; before = Clock::now(); seen = 1;",
    "auto now = Clock::now(); "
    "if (std::chrono::duration_cast<std::chrono::milliseconds>(now - last).count() > 500) { last = now; seen = 1; }",
    "auto now = std::time(nullptr); auto s = kept.load(); "
    "if (now > s && kept.compare_exchange_strong(s, now)) seen = 1;",
    "auto now = std::time(nullptr); if (now != kept) { kept = now; seen = 1; }",
    "auto now = std::time(nullptr); if (std::difftime(now, kept) > 2.0) { kept.store(now); seen = 1; }",
]
ALWAYS = [
    "auto now = Clock::now(); if (now != last) { last = now; seen = 1; }",
    "auto now = Clock::now(); if (now - last > 5us) { last = now; seen = 1; }",
    "auto now = Clock::now(); if (now > last) seen = 1;",
    "auto now = Clock::now(); if (now >= next) { next = now + 20us; seen = 1; }",
    "auto now = Clock::now(); if (now - last > 1s) { seen = 1; if (work()) last = now; }",
    "long now = work(); if (now != kept) { kept = now; seen = 1; }",
]


def rarity(folder: Path, body: str) -> int:
    """Of the access to the one variable that is looked for."""
    source = folder / "unit.cpp"
    source.write_text(CPP % body)
    unit = read_unit(source, ["-std=c++17"])
    (own,) = (function for name, function in unit.functions.items() if name.partition("(")[0] == "f")
    found = [row[13] for row in rows(own.get("accesses", []), 16) if unit.symbol(row[1]).endswith("seen")]
    return int(found[0])


@needs_tool
def test_source_of_c_says_what_its_code_says() -> None:
    unit = read_unit(FIXTURE, [])
    found: dict[str, int] = {}
    for own in unit.functions.values():
        for row in rows(own.get("accesses", []), 16):
            if (name := unit.symbol(row[1])).startswith(("r_", "f_")):
                found[name] = max(int(row[13]), found.get(name, 0))
    assert {name: at for name, at in found.items() if name.startswith("r_") and at < SELDOM} == {}
    assert {name: at for name, at in found.items() if name.startswith("f_") and at > USUAL_LIMIT} == {}
    assert len(found) == 19


@needs_tool
@pytest.mark.parametrize("body", PERIODS)
def test_once_in_a_period_is_rare(tmp_path: Path, body: str) -> None:
    assert rarity(tmp_path, body) >= SELDOM


@needs_tool
@pytest.mark.parametrize("body", ALWAYS)
def test_what_differs_each_time_is_not(tmp_path: Path, body: str) -> None:
    assert rarity(tmp_path, body) <= USUAL_LIMIT


def test_source_and_binaries_know_the_same_clocks() -> None:
    """Each of the table of source tells the time by that of binaries, in the same parts of a second."""
    text = TABLE.read_text()
    begin = text.index("double unitOf(")
    table = text[begin : text.index(".Default(0)", begin)]
    units = {
        "1": ClockTime.SECONDS,
        "1e3": ClockTime.MILLISECONDS,
        "MicroOfSecond": ClockTime.MICROSECONDS,
        "NanoOfSecond": ClockTime.NANOSECONDS,
    }
    cases = re.findall(r"\.Cases?\(([^)]*?),\s*(\w+)\)", table, re.DOTALL)
    known = {name: units[unit] for names, unit in cases for name in re.findall(r'"(\w+)"', names)}
    assert len(known) >= 9
    assert {name: clock_time_of(name) for name in known} == known
