"""Threads that the end of a scope joins (``std::jthread``): those of one scope meet, those of two in a row do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import cpp
from tests.languages.conftest import audited

BUILDS = [("g++", "-O0"), ("g++", "-O2"), ("clang++-19", "-O2")]
CPP = """
#include <atomic>
#include <chrono>
#include <thread>
alignas(64) static struct { std::atomic<unsigned> taken, given; } counts;
static void take(std::stop_token stop) {
    while (!stop.stop_requested()) counts.taken.fetch_add(1, std::memory_order_relaxed);
}
static void give(std::stop_token stop) {
    while (!stop.stop_requested()) counts.given.fetch_add(1, std::memory_order_relaxed);
}
static void pass() { std::this_thread::sleep_for(std::chrono::milliseconds(50)); }
int main() {
    MAIN
    return counts.taken + counts.given > 0 ? 0 : 1;
}
"""
IN_A_ROW = "{ std::jthread first(take); pass(); } { std::jthread second(give); pass(); }"
TOGETHER = "{ std::jthread first(take); std::jthread second(give); pass(); }"


def pairs(folder: Path, build: tuple[str, str], scopes: str) -> list[str]:
    compiler, level = build
    (folder / "scopes.cpp").write_text(CPP.replace("MAIN", scopes))
    cpp.build(compiler, folder / "scopes.cpp", folder / "scopes", "-std=c++20", "-g", level, "-pthread")
    return [f.rule for f in audited(folder / "scopes")]


@pytest.mark.parametrize("build", BUILDS)
def test_threads_of_scopes_in_a_row_do_not_meet(tmp_path: Path, build: tuple[str, str]) -> None:
    assert not pairs(tmp_path, build, IN_A_ROW)


@pytest.mark.parametrize("build", BUILDS)
def test_threads_of_one_scope_meet(tmp_path: Path, build: tuple[str, str]) -> None:
    assert "independent-writers" in pairs(tmp_path, build, TOGETHER)
