"""C and C++ source as tokens with byte ranges, as far as edits need them.

Owns the lexing: comments and preprocessor directives apart from code, strings and raw strings whole.  Does not
preprocess: code of inactive branches is code.  One pass, linear in the size of the file.
"""

from __future__ import annotations

import bisect
import hashlib
import re
from collections.abc import Callable
from enum import Enum
from functools import cached_property
from typing import NamedTuple

MAX_BYTES = 32 << 20  # a source file larger than this is generated: nobody wants edits in it


class Refused(Exception):
    """No edit is made, and why: what a person has to decide or do first."""


class Kind(Enum):
    NAME = "name"
    NUMBER = "number"
    TEXT = "text"  # string or character
    PUNCTUATION = "punctuation"
    DIRECTIVE = "directive"


class Token(NamedTuple):
    """Bytes [begin, end) of the file."""

    kind: Kind
    text: bytes
    begin: int
    end: int


# Possessive throughout: nothing that was matched is ever matched again.
_STRING = rb'"(?:[^"\\\n]|\\(?s:.))*+"'
_PATTERN = re.compile(
    rb"[ \t\r\f\v]*+(?:"
    rb"(?P<space>[ \t\r\f\v\n]++|\\\r?\n|//(?:[^\n\\]|\\\r?\n|\\)*+)"
    rb"|(?P<comment>/\*)"
    rb"|(?P<name>[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*+)"
    rb"|(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z]|[A-Za-z0-9_.])*+)"
    rb"|(?P<text>" + _STRING + rb"|'(?:[^'\\\n]|\\(?s:.))*+')"
    rb"|(?P<punctuation>->\*?|\+\+|--|::|\.\.\.|&&|\|\||(?s:.))"
    rb"|\Z)"
)
# A string or comment that nothing ends goes to the end of the line or file: to look for its end again from every
# quote behind it would take the square of its length.
_DIRECTIVE = re.compile(
    rb'#(?:\\\r?\n|/\*(?:[^*]|\*(?!/))*+(?:\*/|(?P<open>\Z))|"(?:[^"\\\n]|\\(?s:.))*+"?|//[^\n]*+|[^\n])*+'
)
_RAW = re.compile(rb'"([^ ()\\\t\v\f\n]{0,16})\(')
_RAW_PREFIXES = frozenset({b"R", b"LR", b"uR", b"UR", b"u8R"})
_WORD = re.compile(rb"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*+")
_KINDS = {"name": Kind.NAME, "number": Kind.NUMBER, "text": Kind.TEXT, "punctuation": Kind.PUNCTUATION}


def tokens(data: bytes, *, directive: bool = False) -> list[Token]:
    """All tokens in order, a directive as one.  Raises Refused where the file ends inside a comment or string.

    ``directive``: the bytes are a directive themselves, whose tokens are wanted.
    """
    found: list[Token] = []
    looked_through = 0  # behind quotes for others that would close them
    at, fresh_line = 0, True  # a directive starts with the first thing on its line
    while at < len(data):
        match = _PATTERN.match(data, at)
        assert match is not None  # the last but one takes any byte
        group = match.lastgroup
        if group is None:
            break
        text = match[group]
        begin, at = match.span(group)
        if group == "space":
            fresh_line |= b"\n" in text and text[:1] != b"\\"
            continue
        if group == "comment":
            at = data.find(b"*/", at) + 2
            if at < 2:
                raise Refused("the file ends inside a comment")
            continue
        if group == "punctuation":
            if text == b"#" and fresh_line and not directive:
                whole = _DIRECTIVE.match(data, begin)
                assert whole is not None
                if whole["open"] is not None:
                    raise Refused("the file ends inside a comment")
                found.append(Token(Kind.DIRECTIVE, whole[0], begin, whole.end()))
                at = whole.end()
                continue
            if text in (b'"', b"'"):
                looked_through += len(data) - begin if (line_end := data.find(b"\n", begin)) < 0 else line_end - begin
                if looked_through > MAX_BYTES:
                    raise Refused("too many quotes that no other closes")
        fresh_line = False
        if group == "name" and text in _RAW_PREFIXES and (raw := _RAW.match(data, at)):
            end = data.find(b")" + raw[1] + b'"', raw.end())
            if end < 0:
                raise Refused("the file ends inside a raw string")
            at = end + len(raw[1]) + 2
            found.append(Token(Kind.TEXT, data[begin:at], begin, at))
            continue
        found.append(Token(_KINDS[group], text, begin, at))
    return found


class Source:
    """One file as it was read: bytes, hash, tokens and line numbers, each made when asked for."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def code(self) -> list[Token]:
        """Tokens without directives."""
        return [token for token in self._tokens if token.kind is not Kind.DIRECTIVE]

    @cached_property
    def directives(self) -> list[Token]:
        return [token for token in self._tokens if token.kind is Kind.DIRECTIVE]

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every identifier, of comments and strings as well: known without tokens, a tenth of the time."""
        return frozenset(_WORD.findall(self.data))

    @cached_property
    def names(self) -> frozenset[bytes]:
        """Every identifier in code and directives."""
        words = {token.text for token in self.code if token.kind is Kind.NAME}
        for token in self.directives:
            words.update(re.findall(rb"[A-Za-z_]\w*", token.text))
        return frozenset(words)

    @cached_property
    def _tokens(self) -> list[Token]:
        if len(self.data) > MAX_BYTES:
            raise Refused(f"{self.path} is larger than {MAX_BYTES >> 20} MB")
        return tokens(self.data)

    @cached_property
    def _begins(self) -> list[int]:
        return [token.begin for token in self.code]

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(rb"\n", self.data))]

    def at(self, offset: int) -> int:
        """Index in ``code`` of the first token that begins at or behind ``offset``."""
        return bisect.bisect_left(self._begins, offset)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both from 1, the column in bytes."""
        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line_start(self, offset: int) -> int:
        return self._line_starts[bisect.bisect_right(self._line_starts, offset) - 1]

    def indent(self, offset: int) -> str:
        """White space that the line of ``offset`` begins with."""
        match = re.match(rb"[ \t]*", self.data[self.line_start(offset) : offset])
        return match[0].decode() if match else ""

    def within(self, directive: Token) -> list[Token]:
        """Tokens of a directive, its ``#`` included."""
        shift = directive.begin - 1
        inner = tokens(b" " + directive.text, directive=True)
        return [Token(t.kind, t.text, t.begin + shift, t.end + shift) for t in inner]

    def text(self, begin: int, end: int) -> str:
        return self.data[begin:end].decode("utf-8", "surrogateescape")


ReadFile = Callable[[str], bytes]


class Files:
    """The files of a program, read once each through ``read_file``, which raises OSError like open()."""

    def __init__(self, read_file: ReadFile) -> None:
        self.read_file = read_file
        self._sources: dict[str, Source] = {}

    def source(self, path: str) -> Source:
        """Raises Refused where the file cannot be read."""
        if path not in self._sources:
            try:
                data = self.read_file(path)
            except OSError as error:
                raise Refused(f"{path}: {error.strerror or error}") from error
            self._sources[path] = Source(path, data)
        return self._sources[path]


def matching(code: list[Token], at: int, end: int | None = None) -> int:
    """Index of the bracket that closes ``code[at]``.  Raises Refused where there is none before ``end``."""
    close = {b"(": b")", b"[": b"]", b"{": b"}"}
    stack: list[bytes] = []
    for index in range(at, len(code) if end is None else end):
        text = code[index].text
        if text in close:
            stack.append(close[text])
        elif text in (b")", b"]", b"}"):
            if not stack or stack.pop() != text:
                break
            if not stack:
                return index
    raise Refused("brackets do not match")
