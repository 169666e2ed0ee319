"""C and C++ source where edits are looked for (``sharing.fix.tokens``).  Owns the inputs that it starts with."""

from __future__ import annotations

import contextlib

from fuzz.python.engine.target import Target
from sharing.fix.tokens import Kind, Refused, tokens

_SEEDS = (
    b'#include "a.h"\n#define F(x) \\\n  (x) // why\nstatic int a[3] = {1, 0x2, 30}; /* b */\n',
    b'char *s = R"x(\n)x" L"y"";\n',
    b"struct alignas(64) S { long v; } __attribute__((aligned(64)));\nS *p = &q->r ... ::x;\n",
)


def one(data: bytes) -> None:
    with contextlib.suppress(Refused):
        found = tokens(data)
        assert all(data[token.begin : token.end] == token.text for token in found)
        for token in found:
            if token.kind is Kind.DIRECTIVE:
                with contextlib.suppress(Refused):
                    tokens(token.text, directive=True)


TARGET = Target(
    "C and C++ source as tokens", one, lambda: _SEEDS, (b"/*", b"*/", b"//", b'R"(', b')"', b"\\\n", b"#define ")
)
