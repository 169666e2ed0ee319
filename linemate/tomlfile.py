"""Files in TOML that people write, read as tables: within bounds of size and work, with one line for what is wrong.

Owns what the parser of the standard library needs in front of it.  What the tables mean is their readers'.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from sharing.model.errors import Malformed
from sharing.model.inputs import read_input

MAX_BYTES = 1 << 20  # such a file is read by people; the parser takes up to 300 bytes for one of the file
MAX_KEY_PARTS = 32
# The parser keeps every beginning of a dotted key: one of 64 kB would take gigabytes.
_PART = r"""(?:(?<![\w-])[\w-]++|"")"""
_LONG_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS}}}")
# Strings and comments, also those without an end: each is looked at once.
_TEXT = re.compile(
    r"""
    \"{3} [^"\\]*+ (?: (?: \\.? | "(?!"") ) [^"\\]*+ )* (?: "{3,5} | \Z )
    | '{3} [^']*+ (?: '(?!'') [^']*+ )* (?: '{3,5} | \Z )
    | " [^"\\\n]*+ (?: \\[^\n]? [^"\\\n]*+ )* "?
    | ' [^'\n]*+ '?
    | \#[^\n]*+
    """,
    re.DOTALL | re.VERBOSE,
)


def read_toml(path: str, what: str) -> dict[str, Any]:
    """The tables of the file.  Raises LinemateError; ``what`` says what the file should have been."""
    try:
        text = read_input(path, MAX_BYTES, what).decode("utf-8")
        if _LONG_KEY.search(_TEXT.sub(_bare, text)):
            raise Malformed(path, None, f"a key of more than {MAX_KEY_PARTS} parts")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise Malformed(path, error.start, "not UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise Malformed(path, None, str(error)) from error
    except ValueError as error:  # int refuses thousands of digits
        raise Malformed(path, None, "a number has too many digits") from error
    except RecursionError as error:
        raise Malformed(path, None, "nested too deeply") from error


def _bare(found: re.Match[str]) -> str:
    """A string, which may be a part of a key, as an empty one; nothing for a comment."""
    return "" if found[0][0] == "#" else '""'
