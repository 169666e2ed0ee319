"""Readable names from linkage names: C++ (Itanium C++ ABI) and, by ``rustnames``, Rust.

Owns the plain nested names of C++ itself and hands the rest to the C++ runtime's demangler, in a child process
with bounded time and memory: a hostile name of 200 bytes can expand to gigabytes.
"""

from __future__ import annotations

import os
import re
import resource
import signal

from elfscan.debug.rustnames import readable_rust
from sharing.model.linkage import is_rust

MAX_NAME_BYTES = 4096
MAX_READABLE_BYTES = 2048  # longer names help nobody; the linkage name stays then
MAX_ANSWER_BYTES = 128 << 20  # of all names together; those behind stay as they are
CHILD_CPU_S = 2
CHILD_MEMORY_BYTES = 512 << 20

_SPECIAL = {
    "TV": "vtable for ",
    "TT": "VTT for ",
    "TI": "typeinfo for ",
    "TS": "typeinfo name for ",
    "GV": "guard variable for ",
}
_LENGTH = re.compile(r"L?(\d+)")


def demangle(names: list[str]) -> list[str]:
    """The readable form of each name; one that is neither C++ nor Rust, or cannot be read, stays as it is."""
    rust = [row for row, name in enumerate(names) if is_rust(name)]
    if rust:
        names = list(names)
        for row, readable in zip(rust, readable_rust([names[row] for row in rust]), strict=True):
            names[row] = readable
    result = [_simple(name) for name in names]
    hard = [row for row, name in enumerate(result) if name is None]
    if hard:
        for row, readable in zip(hard, _by_runtime([names[row] for row in hard]), strict=True):
            result[row] = readable
    return [readable if readable else name for readable, name in zip(result, names, strict=True)]


def _simple(name: str) -> str | None:
    """``_Z3foo``, ``_ZL3foo``, ``_ZN2ns1xE`` and ``_ZTV3foo``; "" for what is none, None for all else."""
    if not name.startswith("_Z") or len(name) > MAX_NAME_BYTES:
        return ""
    what, rest, nested = _SPECIAL.get(name[2:4], ""), name[2:], False
    if what:
        rest = rest[2:]
    if rest.startswith("N"):
        rest, nested = rest[1:], True
    parts: list[str] = []
    while rest and rest != "E":
        match = _LENGTH.match(rest)
        if match is None:
            return None
        length = int(match[1][:9])
        part = rest[match.end() : match.end() + length]
        if length == 0 or len(part) != length:
            return None
        parts.append("(anonymous namespace)" if part.startswith("_GLOBAL__N") else part)
        rest = rest[match.end() + length :]
        if not nested:
            break
    return what + "::".join(parts) if parts and rest == ("E" if nested else "") else None


def _mapped_bytes() -> int:
    """Address space in use: the mapped input file counts in the limit too."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _by_runtime(names: list[str]) -> list[str]:
    """Names through ``__cxa_demangle`` of libstdc++ in a child; "" where it has no answer or the child died."""
    import ctypes

    try:
        runtime = ctypes.CDLL("libstdc++.so.6")
        call = runtime.__cxa_demangle
        free = ctypes.CDLL(None).free
    except (OSError, AttributeError):
        return [""] * len(names)
    call.restype = ctypes.c_void_p
    call.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    free.argtypes = [ctypes.c_void_p]
    result = [""] * len(names)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read_end)
            signal.signal(signal.SIGXCPU, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (CHILD_CPU_S, CHILD_CPU_S))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            memory = _mapped_bytes() + CHILD_MEMORY_BYTES
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            status = ctypes.c_int()
            for name in names:
                raw = name.encode("utf-8", "replace")
                answer = call(raw, None, None, ctypes.byref(status))
                text = ctypes.string_at(answer)[: MAX_READABLE_BYTES + 1] if answer else b""
                if answer:
                    free(answer)
                os.write(write_end, text.replace(b"\n", b" ") + b"\n" if len(text) <= MAX_READABLE_BYTES else b"\n")
        finally:
            os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as answers:
        for row, line in enumerate(answers.read(MAX_ANSWER_BYTES).split(b"\n")[:-1]):
            result[row] = line.decode("utf-8", "backslashreplace")
    os.waitpid(child, 0)
    return result
