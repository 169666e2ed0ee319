"""The project file (``linemate.config``).  Owns the inputs that the target starts with."""

from __future__ import annotations

from fuzz.python.engine.target import Target, input_file
from linemate.config import load_config

_SEEDS = (
    b'[project]\nline_size = 64\nfail_on = "high"\n\n[[lock]]\ntype = "my_mutex"\nhot = [[0, 8]]\nlock = ["my_lock"]\n'
    b'unlock = ["my_unlock"]\n\n[[thread]]\nfunction = "spawn"\nentry_argument = 1\n\n'
    b'[[suppress]]\nrule = "hot-lock*"\nsymbol = "a*"\nreason = "known"\n',
    b"[project]\nlinesize = 64\n",
    b"suppress = [{rule = 'x', reason = ' '}]\n",
    b"a = [[[[1]]]]\nb.c.d.e = 1979-05-27T07:32:00Z\n",
)


def one(data: bytes) -> None:
    load_config(input_file(data))


TARGET = Target(
    "linemate.toml",
    one,
    lambda: _SEEDS,
    (
        b"[project]\n",
        b"[[lock]]\n",
        b"[[thread]]\n",
        b"[[suppress]]\n",
        b"line_size = ",
        b"hot = [[",
        b'"""',
        b"1e400",
        b"0x",
        b".",
    ),
)
