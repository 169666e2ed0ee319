"""Text from a binary made safe to show: escaping, shortening and short lists of names.

Owns every rule about untrusted names.  Symbol names may hold any byte, so nothing from a report reaches a
terminal or a page without passing ``visible``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from sharing.model.plural import named

ELLIPSIS = "..."  # ASCII, since a report may be read under LANG=C
LONGEST_IN_SENTENCE = 60  # characters of a name
_QUOTED = re.compile(r"`([^`]+)`")


def visible(text: str) -> str:
    r"""The text with every character that does not print shown as ``\x1b``, ``\u202e`` or ``\U000e0001``.

    That covers control characters, ANSI escapes, newlines, bidirectional overrides, zero-width characters and
    bytes that were not UTF-8 (surrogate escapes, shown as the byte they were).
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escaped(ord(char)) for char in text)


def _escaped(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible_block(text: str) -> list[str]:
    """The lines of a multi-line text, each made visible; tabs become four spaces."""
    return [visible(line.expandtabs(4)) for line in text.split("\n")]


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters, cut in the middle: both namespace and last name of C++ stay readable."""
    if len(text) <= width:
        return text
    if width <= len(ELLIPSIS) + 2:
        return text[:width]
    tail = (width - len(ELLIPSIS)) // 2
    head = width - len(ELLIPSIS) - tail
    return f"{text[:head]}{ELLIPSIS}{text[-tail:]}"


def shorten_apart(names: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Each name as ``shorten`` cuts it to its width, but names that then look alike keep where they differ."""
    cut = [shorten(name, width) for name, width in zip(names, widths, strict=True)]
    if len(set(cut)) == len(set(names)):
        return cut
    start = _same_start(names)
    same_end = _same_start([name[start:][::-1] for name in names])
    return [_around(name, start, len(name) - same_end, width) for name, width in zip(names, widths, strict=True)]


def _same_start(names: Sequence[str]) -> int:
    """How many characters all names begin with."""
    return sum(1 for _ in takewhile(lambda chars: len(set(chars)) == 1, zip(*names, strict=False)))


def _around(name: str, start: int, end: int, width: int) -> str:
    """Both ends of a name and what lies from ``start`` to ``end``, with one more character at either side."""
    if len(name) <= width:
        return name
    middle = name[max(start - 1, 0) : end + 1][: max(width // 2, 1)]
    left = width - len(middle) - 2 * len(ELLIPSIS)
    if left < 2:  # too narrow for more than where they differ
        return shorten(name, width) if width <= len(ELLIPSIS) + 2 else f"{ELLIPSIS}{middle}"[:width]
    tail = left // 2
    return f"{name[: left - tail]}{ELLIPSIS}{middle}{ELLIPSIS}{name[-tail:]}"


def sentence(text: str) -> str:
    """The text with both ends of each long name between backquotes, such as a template's."""
    return _QUOTED.sub(lambda name: f"`{shorten(name[1], LONGEST_IN_SENTENCE)}`", text)


def names_cut(text: str) -> tuple[str, ...]:
    """The names that ``sentence`` cuts, once each."""
    return tuple(dict.fromkeys(name for name in _QUOTED.findall(text) if len(name) > LONGEST_IN_SENTENCE))


def name_list(names: Sequence[str], shown: int, width: int, total: int = 0) -> str:
    """``a, b, c and 4 more``: the first ``shown`` names, each visible and at most ``width`` long.

    ``total`` is how many there are, where ``names`` are only some of them.
    """
    return named([shorten(visible(name), width) for name in names[:shown]], shown, max(len(names), total))


def bytes_in_words(ranges: Sequence[tuple[int, int]]) -> str:
    """``bytes 0-15, 24-31``, ``byte 40``; "" where none is in any of the ranges."""
    whole = [(start, end) for start, end in ranges if start < end]
    single = len(whole) == 1 and whole[0][1] - whole[0][0] == 1
    return f"{'byte' if single else 'bytes'} {byte_ranges(whole)}" if whole else ""


def byte_ranges(ranges: Sequence[tuple[int, int]]) -> str:
    """``0-15, 24-31``: [start, end) ranges as people write them, last byte included."""
    return ", ".join(f"{start}-{end - 1}" if end - start > 1 else f"{start}" for start, end in ranges)
