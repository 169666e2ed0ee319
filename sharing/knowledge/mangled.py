"""The qualified name in a C++ linkage name (Itanium C++ ABI, 5.1): ``_ZN4absl5Mutex4LockEv`` is ``absl::Mutex::Lock``.

Owns the part of the grammar that names of functions need: scopes, template arguments that are classes, and how long
any other type is.  What it cannot read is None, never a guess.
"""

from __future__ import annotations

import re

import msgspec

MAX_NAME_CHARS = 8192
MAX_DEPTH = 64

_STANDARD = {
    "a": ("std", "allocator"),
    "b": ("std", "basic_string"),
    "s": ("std", "string"),
    "i": ("std", "istream"),
    "o": ("std", "ostream"),
    "d": ("std", "iostream"),
}
_LENGTH = re.compile(r"\d+")
_SUBSTITUTION = re.compile(r"S([0-9A-Z]*)_")
_PARAMETER = re.compile(r"T\d*_")
_CLOSURE = re.compile(r"\d*_")
_LITERAL = re.compile(r"[a-z]n?[0-9a-f]*E")
_SMALL = "bcahstijw"  # numbers of half a word and less
_WORDS = "lmxy"  # numbers that may be pointers
_APART = "vfd"  # nothing, and numbers in registers of their own
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Parts = tuple[str, ...]


class Mangled(msgspec.Struct, frozen=True):
    """A function's scopes and own name; a constructor is called like its class, a destructor ``~`` and that.

    ``arguments`` are the names of the classes that its class, or else itself, was instantiated for, () for anything
    else at that place.  ``parameters`` is the rest of the linkage name.
    """

    parts: Parts
    arguments: tuple[Parts, ...]
    parameters: str


def parse(name: str) -> Mangled | None:
    """None for what is no C++ function name, or is not understood."""
    if not name.startswith("_Z") or len(name) > MAX_NAME_CHARS:
        return None
    reader = _Reader(name)
    try:
        return reader.function()
    except (ValueError, IndexError, RecursionError):
        return None


class Handed(msgspec.Struct, frozen=True):
    """What the registers of a function's parameters hold, by its linkage name, and the scopes around the function.

    Of each parameter the class that it points to, () of a number that is no pointer, None of what is not known.
    ``whole``: there are no more; else nothing is said of what follows.
    """

    scope: Parts
    registers: tuple[Parts | None, ...]
    whole: bool


def handed(name: str) -> Handed | None:
    """None for what is not understood, for templates of functions, and for what compilers made of a function."""
    if not name.startswith("_Z") or len(name) > MAX_NAME_CHARS or "." in name:
        return None
    reader = _Reader(name)
    try:
        made = reader.function()
        return None if reader.is_template else reader.registers(made.parts[:-1])
    except (ValueError, IndexError, RecursionError):
        return None


def class_of(name: str) -> Parts:
    """The scopes and the name of a class, by its linkage name without a prefix, as in type information; () unknown."""
    if len(name) > MAX_NAME_CHARS:
        return ()
    reader = _Reader(f"_Z{name}")
    try:
        parts = reader.type()
    except (ValueError, IndexError, RecursionError):
        return ()
    return parts if reader.at == len(reader.text) else ()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 2
        self.depth = 0
        self.is_template = False  # the function itself, which then begins its parameters with what it returns
        self.seen: list[Parts] = []  # what substitutions stand for, () for what is not a class

    def function(self) -> Mangled:
        if self._takes("N"):
            parts, arguments = self._nested()
        else:
            if self._is("L"):
                self.at += 1
            parts = ("std",) if self._takes("St") else ()
            parts += (self._operator() if self.text[self.at].islower() else self._source_name(),)
            arguments = ()
            if self._is("I"):
                self.seen.append(parts)
                arguments = self._arguments()
                self.is_template = True
        return Mangled(parts, arguments, self.text[self.at :])

    def registers(self, scope: Parts) -> Handed:
        """What the parameters behind the name of a function hold."""
        found: list[Parts | None] = []
        while self.at < len(self.text):
            here = self.text[self.at]
            if here in "PRO":
                self.at += 1
                found.append(self.type() or None)
                self._remember(())
                continue
            self.type()
            if here in _SMALL:
                found.append(())
            elif here in _WORDS:
                found.append(None)
            elif here not in _APART:
                return Handed(scope, tuple(found), whole=False)
        return Handed(scope, tuple(found), whole=True)

    def _nested(self) -> tuple[Parts, tuple[Parts, ...]]:
        """From behind the N to behind the E."""
        while self._is("r", "V", "K", "R", "O"):
            self.at += 1
        parts: Parts = ()
        arguments: tuple[Parts, ...] = ()
        while not self._takes("E"):
            here = self.text[self.at]
            if here == "I":
                arguments = self._arguments()
                self.is_template = True
                self._remember(parts)
                continue
            self.is_template = False
            if here == "S":
                parts = self._substitution()
                continue
            if here == "B":  # an ABI tag
                self.at += 1
                self._source_name()
                continue
            if here == "C" and parts:
                inherited = self._takes("CI")
                self.at += 1 if inherited else 2
                parts = (*parts, parts[-1])
                if inherited:
                    self.type()
            elif here == "D" and self.text[self.at + 1].isdigit():
                self.at += 2
                parts = (*parts, f"~{parts[-1]}")
            elif here == "U":
                parts = (*parts, self._unnamed())
            elif here.islower():
                parts = (*parts, self._operator())
            else:
                if here == "L":
                    self.at += 1
                parts = (*parts, self._source_name())
            if not self._is("E"):
                self._remember(parts)
        return parts, arguments

    def _operator(self) -> str:
        code = self.text[self.at : self.at + 2]
        if code == "cv":  # a conversion: its type follows
            self.at += 2
            self.type()
        elif code == "li":
            self.at += 2
            self._source_name()
        else:
            self.at += 2
        return f"operator {code}"

    def _unnamed(self) -> str:
        """A closure or another type without a name."""
        if self._takes("Ul"):
            while not self._takes("E"):
                self.type()
        elif not self._takes("Ut"):
            raise ValueError
        self._match(_CLOSURE)
        return "{unnamed}"

    def _arguments(self) -> tuple[Parts, ...]:
        """Template arguments, those of a pack like others."""
        self.at += 1
        out: list[Parts] = []
        packs = 0
        while True:
            if self._takes("J"):
                packs += 1
            elif self._takes("E"):
                if not packs:
                    return tuple(out)
                packs -= 1
            elif self._takes("L"):
                self._literal()
                out.append(())
            else:
                out.append(self.type())

    def _literal(self) -> None:
        if self._takes("_Z"):
            self._encoding()
            self._need("E")
        elif self._takes("Dn"):
            self._takes("0")
            self._need("E")
        elif self.text[self.at].islower():
            self._match(_LITERAL)
        else:
            self.type()
            self._takes("n")
            self._match(re.compile(r"\d*E"))

    def _encoding(self) -> None:
        """A function or variable within a literal or in front of a local name, to its E."""
        if self._takes("N"):
            self._nested()
        elif self._takes("Z"):
            self._local()
        else:
            self._takes("L")
            self._takes("St")
            self._source_name()
            if self._is("I"):
                self._remember(())
                self._arguments()
        while not self._is("E"):
            self.type()

    def _local(self) -> None:
        """From behind the Z: a name within a function."""
        self._encoding()
        self._need("E")
        if self._takes("s"):
            pass
        elif self._takes("d"):
            self._match(_CLOSURE)
            self._local_name()
        else:
            self._local_name()
        if self._takes("_"):
            self._match(re.compile(r"_\d+_|\d"))

    def _local_name(self) -> None:
        if self._takes("N"):
            self._nested()
        elif self._is("U"):
            self._unnamed()
        else:
            self._source_name()

    def type(self) -> Parts:
        """The name of a class, () for any other type."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ValueError
        try:
            return self._any_type()
        finally:
            self.depth -= 1

    def _any_type(self) -> Parts:
        here = self.text[self.at]
        if here == "N":
            self.at += 1
            parts, _ = self._nested()
            return self._remember(parts)
        if here.isdigit():
            return self._class((self._source_name(),))
        if here == "S":
            if self._takes("St"):
                return self._class(("std", self._source_name()))
            parts = self._substitution()
            if self._is("I"):
                self._arguments()
                self._remember(parts)
            return parts
        self.at += 1
        if here in "PROKVrCG":
            qualified = here in "KVr"
            while qualified and self._is("r", "V", "K"):
                self.at += 1
            inner = self.type()
            self._remember(inner if qualified else ())
            return inner if qualified else ()
        self._type_without_name(here)
        return ()

    def _type_without_name(self, here: str) -> None:
        """Reads past a type that is no class; ``here`` is its first letter, which was taken."""
        if here == "u":
            self._source_name()
        elif here.islower():
            return
        elif here == "T":
            self.at -= 1
            self._match(_PARAMETER)
            self._remember(())
            if self._is("I"):
                self._arguments()
                self._remember(())
        elif here == "F":
            self._takes("Y")
            while not self._takes("E"):
                if not (self._is("R", "O") and self.text[self.at + 1] == "E"):
                    self.type()
                else:
                    self.at += 1
            self._remember(())
        elif here == "A":
            self._match(_CLOSURE)
            self.type()
            self._remember(())
        elif here == "M":
            self.type()
            self.type()
            self._remember(())
        elif here == "Z":
            self._local()
            self._remember(())
        elif here == "D" and self.text[self.at] in "nisuhaefd":
            self.at += 1
        elif here == "D" and self._is("o", "p"):  # a function that does not throw, a pack
            self.at += 1
            self.type()
        else:
            raise ValueError

    def _class(self, parts: Parts) -> Parts:
        self._remember(parts)
        if self._is("I"):
            self._arguments()
            self._remember(parts)
        return parts

    def _remember(self, parts: Parts) -> Parts:
        self.seen.append(parts)
        return parts

    def _substitution(self) -> Parts:
        """``St`` as a scope, a standard abbreviation, or what was seen before."""
        if self._takes("St"):
            return ("std",)
        if known := _STANDARD.get(self.text[self.at + 1]):
            self.at += 2
            return known
        code = self._match(_SUBSTITUTION)[1:-1]
        number = 0
        for digit in code:
            number = number * 36 + _DIGITS.index(digit)
        return self.seen[number + 1 if code else 0]

    def _source_name(self) -> str:
        length = int(self._match(_LENGTH)[:6])
        name = self.text[self.at : self.at + length]
        if len(name) < length or not length:
            raise ValueError
        self.at += length
        return name

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.at)
        if found is None:
            raise ValueError
        self.at = found.end()
        return found[0]

    def _is(self, *texts: str) -> bool:
        return self.text.startswith(texts, self.at)

    def _takes(self, text: str) -> bool:
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _need(self, text: str) -> None:
        if not self._takes(text):
            raise ValueError
