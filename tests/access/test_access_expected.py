"""Annotated programs: each function has exactly the accesses that its comments expect, and no others.

The form of an expectation is described in expected/kinds.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model import AccessKind, SiteFlag
from tests.access.conftest import COMPILERS, HERE, Build
from tests.access.elfplan import Elf, read_elf

_FUNCTION = re.compile(r"^\w[\w \*]*?\W\(?\*?(\w+)\([^;]*\{")
_EXPECT = re.compile(r"expect(\?)?(?:\[([^\]]*)\])?: (.*?)\s*(?:\*/)?$")
_FLAGS = ("-fno-pie", "-no-pie", "-fno-tree-vectorize", "-pthread")
_ARCH_FLAGS = {
    "gcc-aarch64": ("-fno-section-anchors", "-mno-outline-atomics", "-march=armv8.1-a"),
    "clang-aarch64": ("-mno-global-merge", "-mno-outline-atomics"),
    "clang-x86-64": ("-fno-unroll-loops",),
    "gcc-x86-64": (),
    "gcc-riscv64": ("-fno-section-anchors",),
    "clang-riscv64": ("-mno-global-merge",),
}


@dataclass(frozen=True)
class Expectation:
    text: str  # kind, atomic, place, size, stride
    loop: int | None
    optional: bool


def parse(source: str, words: set[str]) -> dict[str, list[Expectation]]:
    """The expectations of each function that apply when all of a condition's words are among ``words``."""
    out: dict[str, list[Expectation]] = {}
    function = ""
    for line in source.splitlines():
        if match := _FUNCTION.match(line):
            function = match.group(1)
            out[function] = []
        match = _EXPECT.search(line)
        if not match or not function:
            continue
        optional, condition, text = match.groups()
        if condition and not set(condition.split()) <= words:
            continue
        loop = re.search(r" loop=(\d+)", text)
        plain = re.sub(r" loop=\d+", "", text).strip()
        out[function].append(Expectation(plain, int(loop.group(1)) if loop else None, bool(optional)))
    return out


def places(elf: Elf, target: int) -> list[str]:
    """``name+offset`` of an address; a pointer past the end of one object may be the start of the next.

    Of a function its name.
    """
    if target in elf.names:
        return [elf.names[target]]
    inside = [f"{name}+{target - at}" for name, (at, size) in elf.objects.items() if at <= target < at + max(size, 1)]
    behind = [f"{name}+{size}" for name, (at, size) in elf.objects.items() if target == at + size]
    return inside + behind or [hex(target)]


Row = tuple[frozenset[str], int]  # what a site may be called, and its loop depth


def found(elf: Elf, result: ScanResult) -> dict[str, set[Row]]:
    """Every site, by function name."""
    names = {row: elf.names.get(int(address), "") for row, address in enumerate(elf.plan.functions["address"])}
    out: dict[str, set[Row]] = {}
    for site in result.sites:
        kind = AccessKind(site["kind"])
        atomic = " atomic" if site["flags"] & SiteFlag.ATOMIC else ""
        stride = f" stride={site['stride']}" if site["flags"] & SiteFlag.INDEXED else ""
        at = places(elf, int(site["target"]))
        if kind != AccessKind.ADDRESS:
            at = at[:1]
        texts = frozenset(f"{kind.name.lower()}{atomic} {place} {site['size']}{stride}" for place in at)
        out.setdefault(names[int(site["function"])], set()).add((texts, int(site["loop_depth"])))
    return out


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-Os"])
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("source", sorted(path.name for path in (HERE / "expected").iterdir()))
def test_sites_are_exactly_those_expected(build: Build, source: str, compiler: str, level: str) -> None:
    if source == "optimised.c" and level == "-O0":
        pytest.skip("written for optimised code")
    path = f"expected/{source}"
    elf = read_elf(build(compiler, path, level, *_FLAGS, *_ARCH_FLAGS[compiler]))
    sites = found(elf, start_scan(elf.plan).result())
    kind, arch = compiler.split("-", 1)
    problems = []
    for function, expectations in parse((HERE / path).read_text(), {kind, arch, level}).items():
        rows = sites.get(function, set())
        for expectation in expectations:
            fits = [row for row in rows if expectation.text in row[0] and expectation.loop in (None, row[1])]
            if not fits and not expectation.optional:
                problems.append(f"{function}: no {expectation}")
        wanted = {expectation.text for expectation in expectations}
        problems += [f"{function}: unexpected {sorted(row[0])} loop={row[1]}" for row in rows if not row[0] & wanted]
    assert not problems, "\n".join(problems)


def test_every_function_is_parsed() -> None:
    text = (HERE / "expected" / "kinds.c").read_text()
    expected = parse(text, {"gcc", "x86-64", "-O2"})
    assert {"load", "store", "returned", "function", "main"} <= set(expected)
    assert expected["load"] == [Expectation("load number+0 4", None, False)]
    assert expected["nothing"] == []
