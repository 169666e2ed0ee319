"""The scanner against the compilers' own relocations: what they name is found, what they do not name is not.

A program linked with --emit-relocs says of every instruction which address its operand names.  Direct
accesses must be reported at that instruction; every other reported access must go through an address
that the same function materialises.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from elfscan.code.accessplan import ScanResult, start_scan
from sharing.model import AccessKind, ArgKind, SiteFlag
from tests.access.conftest import COMPILERS, HERE, Build
from tests.access.elfplan import Elf, read_elf

_LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
_LINKING = {"pie": ("-fPIE", "-pie"), "fixed": ("-fno-pie", "-no-pie"), "pic": ("-fPIC", "-shared")}
_CORPUS = sorted((HERE / "corpus").iterdir())
_COMMON = ("-pthread", "-Wl,--emit-relocs", "-w")
# Without these compilers name one object and reach its neighbours from there.
_OWN_NAMES = {
    "gcc-aarch64": ("-fno-section-anchors", "-mno-outline-atomics"),
    "clang-aarch64": ("-mno-global-merge", "-mno-outline-atomics"),
    "gcc-riscv64": ("-fno-section-anchors",),
    "clang-riscv64": ("-mno-global-merge",),
}


@dataclass
class Agreement:
    """What one program's comparison found."""

    named: int = 0  # data references that the compiler's relocations name
    missed: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    sites: int = 0


def compare(elf: Elf, result: ScanResult) -> Agreement:
    objects = sorted((address, address + max(size, 1), name) for name, (address, size) in elf.objects.items())

    def owner(address: int) -> str:
        return next((name for begin, end, name in objects if begin <= address < end), f"{address:#x}")

    def in_data(address: int) -> bool:
        return any(begin <= address < begin + size for begin, size in elf.plan.data)

    functions = elf.plan.functions
    starts = functions["address"].tolist()

    def function_at(ip: int) -> int:
        return int(np.searchsorted(starts, ip, side="right")) - 1

    at_ip: dict[int, set[int]] = {}
    for site in result.sites:
        at_ip.setdefault(int(site["ip"]), set()).add(int(site["target"]))
    used: dict[int, set[str]] = {}
    for site in result.sites:
        used.setdefault(function_at(int(site["ip"])), set()).add(owner(int(site["target"])))
    for arg in result.args[result.args["kind"] == ArgKind.ADDRESS]:
        used.setdefault(function_at(int(arg["ip"])), set()).add(owner(int(arg["value"])))

    out = Agreement(sites=len(result.sites))
    missed, invented = [], []
    named: dict[int, set[str]] = {}
    patched: dict[int, set[str]] = {}
    for row in elf.relocations:
        # A pointer past the end names the object before it; some relocations say which one is meant.
        names = {owner(row.target), owner(row.target - 1)} | ({owner(row.symbol)} if row.symbol >= 0 else set())
        function = function_at(row.ip)
        named.setdefault(function, set()).update(names)
        patched.setdefault(row.ip, set()).update(names)
        if not in_data(row.target):
            continue
        out.named += 1
        if row.target not in at_ip.get(row.ip, set()) and not names & used.get(function, set()):
            missed.append(f"{row.ip:#x} names {owner(row.target)}")
    called: dict[int, set[int]] = {}
    for call in result.calls:
        called.setdefault(function_at(int(call["ip"])), set()).add(function_at(int(call["callee"])))

    def callees(function: int) -> set[int]:
        """Whose result may be the object's address: functions that are called, and those that these call."""
        direct = called.get(function, set())
        return direct.union(*(called.get(f, set()) for f in direct))

    for site in result.sites:
        ip, target = int(site["ip"]), int(site["target"])
        if not in_data(target):
            continue  # a function whose address is taken: of the same section it needs no relocation
        kind, function = AccessKind(site["kind"]), function_at(ip)
        if site["flags"] & SiteFlag.TRACKED:
            if not any(owner(target) in named.get(f, set()) for f in (function, *callees(function))):
                invented.append(f"{ip:#x} touches {owner(target)} ({kind.name})")
        elif not {owner(target), owner(target - 1)} & patched.get(ip, set()):
            invented.append(f"{ip:#x} has no relocation to {owner(target)} ({kind.name})")
    out.missed, out.invented = tuple(missed), tuple(invented)
    return out


def flags_for(compiler: str, level: str, linking: str) -> tuple[str, ...]:
    return (level, *_LINKING[linking], *_COMMON, *_OWN_NAMES.get(compiler, ()))


def cases() -> list[tuple[str, str, str]]:
    """Every compiler with every way of linking at one level, and every level with one way of linking.

    How an address is formed follows from the linking, how many instructions apart its parts stand from the level.  Of
    RISC-V, which has fewer ways to write an access, some of these.
    """
    chosen = {("-O2", linking) for linking in _LINKING} | {(level, "pie") for level in _LEVELS}
    riscv = {("-O2", linking) for linking in _LINKING} | {("-O0", "fixed"), ("-Os", "fixed")}
    return [
        (linking, compiler, level)
        for level in _LEVELS
        for compiler in COMPILERS
        for linking in _LINKING
        if (level, linking) in (riscv if "riscv" in compiler else chosen)
    ]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The corpus as few programs: starting compilers and linkers takes most of the time."""
    folder = tmp_path_factory.mktemp("corpus")
    c = folder / "all.c"
    parts = [path for path in _CORPUS if path.suffix == ".c"]
    texts = (f'#define main main_of_{path.stem}\n#include "{path}"\n#undef main\n' for path in parts)
    c.write_text("".join((*texts, "int main(void) { return 0; }\n")))
    return [c, *(path for path in _CORPUS if path not in parts)]


@pytest.mark.parametrize(("linking", "compiler", "level"), cases())
def test_relocations_and_sites_name_the_same_objects(
    build: Build, sources: list[Path], compiler: str, level: str, linking: str
) -> None:
    named, missed, invented = 0, [], []
    # What C++ adds are kinds of objects; how their addresses are formed C shows at every level.
    for source in sources if level == "-O2" else sources[:1]:
        elf = read_elf(build(compiler, source, *flags_for(compiler, level, linking)), relocations=True)
        agreement = compare(elf, start_scan(elf.plan).result())
        named += agreement.named
        missed += [f"{source.name}: {row}" for row in agreement.missed]
        invented += [f"{source.name}: {row}" for row in agreement.invented]
    assert named > 200
    assert len(missed) <= named * 0.01, missed
    assert not invented, invented
