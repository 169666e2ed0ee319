"""Compile databases (``linemate.database``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from linemate.database import read_database

_SEEDS = (
    b'[{"directory": "/src/build", "file": "../a.c", "arguments": ["cc", "-I", "x", "-Iy", "-c", "../a.c"]}]',
    b'[{"directory": "build", "file": "/b.cc", "output": "b.o", '
    b'"command": "g++ -DX=\\"a b\\" -isystem\\\\ z -o b.o -c /b.cc"}]',
    b"[]",
)


def one(data: bytes) -> None:
    for entry in read_database(input_file(data)):
        for argument in entry.arguments:
            entry.names_source(argument)


TARGET = Target(
    "compile_commands.json",
    one,
    lambda: _SEEDS,
    (b'"directory": "', b'"file": "', b'"arguments": [', b'"command": "', b'\\"', b"\\u0000", b"\\ud800", b"-I", b"'"),
)
