"""Readable C++ names, in bounded time whatever the name."""

from __future__ import annotations

import resource
import shutil
import subprocess
import time

import pytest

from elfscan.debug.demangle import demangle
from sharing.model.linkage import as_written

PLAIN = {
    "main": "main",
    "_ZN2ns1C1xE": "ns::C::x",
    "_ZL6hidden": "hidden",
    "_ZN2ns12_GLOBAL__N_16hiddenE": "ns::hidden",  # as source names it: no name has the scope without one
    "_ZN12_GLOBAL__N_16hiddenE": "hidden",
    "_ZN12_GLOBAL__N_13BoxINS_4ItemEE5valueE": "Box<Item>::value",
    "_ZTVN12_GLOBAL__N_14SinkE": "vtable for Sink",
    "_ZN12_GLOBAL__N_1E": "(anonymous namespace)",
    "_ZN3BoxIlE5valueE": "Box<long>::value",
    "_ZZ4hitsvE1n": "hits()::n",
    "_ZTV6Widget": "vtable for Widget",
    "_ZGVZ4hitsvE1n": "guard variable for hits()::n",
    "_Z": "_Z",
    "_Z99short": "_Z99short",
    "_ZN": "_ZN",
    "_ZN1aE_garbage": "_ZN1aE_garbage",
    "": "",
}


@pytest.mark.parametrize(("name", "readable"), list(PLAIN.items()))
def test_names(name: str, readable: str) -> None:
    assert demangle([name]) == [readable]


def test_names_keep_their_order() -> None:
    assert demangle(list(PLAIN)) == list(PLAIN.values())


def test_agreement_with_cxxfilt() -> None:
    """On the variables of the C++ runtime itself."""
    library = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"
    if not shutil.which("c++filt") or not shutil.which("nm"):
        pytest.skip("no c++filt or nm")
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True)
    if out.returncode:
        pytest.skip(f"no {library}")
    symbols = [line.split() for line in out.stdout.splitlines()]
    names = sorted({name.partition("@")[0] for _, kind, name in symbols if kind in "BDRVu"})
    command = ["c++filt", "--no-verbose"]
    filtered = subprocess.run(command, input="\n".join(names), capture_output=True, text=True, check=True)
    expected = dict(zip(names, map(as_written, filtered.stdout.splitlines()), strict=True))
    differing = {n: (got, expected[n]) for n, got in zip(names, demangle(names), strict=True) if got != expected[n]}
    assert len(names) > 500
    assert differing == {}


def test_a_name_that_doubles_itself_is_cut_off() -> None:
    """Substitutions expand: 30 nested pairs are 2^30 copies, which must cost neither minutes nor gigabytes."""
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    bomb = "_Z1fSt4pairIiiE" + "".join(f"S_IS{digits[i]}_S{digits[i]}_E" for i in range(30))
    small = "_Z1fSt4pairIiiE" + "".join(f"S_IS{digits[i]}_S{digits[i]}_E" for i in range(2))
    deep = "_Z1f" + "P" * 4000 + "i"
    nested = "_ZN" + "1aI" * 900 + "i" + "E" * 901
    assert demangle([small])[0].startswith("f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    readable = demangle(["_ZN3BoxIlE5valueE", deep, nested, bomb])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 4
    assert readable[0] == "Box<long>::value"
    assert readable[3] == bomb
    assert all(len(name) <= max(2048, len(deep)) for name in readable)


def test_a_plain_name_of_a_megabyte_is_left_as_it_is() -> None:
    """Each of its parts would copy the rest of it."""
    plain = "_ZN" + "1a" * 500_000 + "E"
    started = time.process_time()
    assert demangle([plain, "_ZN2ns1xE"]) == [plain, "ns::x"]
    assert time.process_time() - started < 1


def test_control_characters_do_not_shift_names() -> None:
    names = ["_Z3a\nbv", "_Z3a\0bv", "_ZN3BoxIlE5valueE", "_ZN3Box\x1bIlE5valueE", "_ZN3BoxIiE5valueE"]
    readable = demangle(names)
    assert readable[1] == names[1]
    assert readable[2] == "Box<long>::value"
    assert readable[4] == "Box<int>::value"
