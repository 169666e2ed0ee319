"""Names of a program against names in rows.

Owns what rows leave out (inline namespaces, template arguments, the words struct and class), and the lookup of types
and of functions, the latter by linkage name.  Linkage names are read only where their first scopes occur in a row.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from sharing.knowledge.mangled import MAX_NAME_CHARS, Mangled, Parts, parse
from sharing.knowledge.mentions import mentioning

_T = TypeVar("_T")
_HEAD = re.compile(r"_ZL?(?:N[rVK]*[RO]?)?(St)?")
_NAME = re.compile(r"L?(\d{1,5})")
MAX_REMEMBERED = 100_000
# What linkage names abbreviate (Itanium C++ ABI, 5.1.10).
_STREAMS = ("istream", "ostream", "iostream")
_ENCODED = frozenset(
    {"std", "allocator", "basic_string", "string", *_STREAMS, *(f"basic_{stream}" for stream in _STREAMS)}
)
_GLOB = re.compile(r"(?<!\()\*|[?\[]")  # a star behind a bracket is a receiver of Go: sync.(*Mutex).Lock


def is_glob(name: str) -> bool:
    return _GLOB.search(name) is not None


def one_of(globs: Iterable[str]) -> Callable[[str], re.Match[str] | None]:
    """A matcher of names against all of these, whole."""
    return re.compile("|".join(map(fnmatch.translate, globs)) or r"(?!)").match


def scopes(name: str) -> Parts:
    """The scopes and the own name of a type, without template arguments."""
    if "<" in name:
        kept, depth, start = [], 0, 0
        for found in re.finditer("[<>]", name[:MAX_NAME_CHARS]):
            at = found.start()
            if found[0] == "<":
                if not depth:
                    kept.append(name[start:at])
                depth += 1
            elif depth:
                depth -= 1
                start = at + 1
        name = "".join(kept) + ("" if depth else name[start:])
    return tuple(name.replace(" ", "").split("::"))


def rust_path(name: str) -> str:
    """A readable Rust name without type arguments: ``<a::B<u8> as c::D>::e::<F> #2`` is ``a::B::e``."""
    name = name[:MAX_NAME_CHARS].partition(" #")[0].replace("->", "")
    if name.startswith("<"):
        end = _closing(name)
        name = name[1:end].partition(" as ")[0] + name[end + 1 :]
    return "::".join(part for part in scopes(name) if part)


def _closing(name: str) -> int:
    """Where the bracket ends that the name begins with."""
    depth = 0
    for found in re.finditer("[<>]", name):
        depth += 1 if found[0] == "<" else -1
        if not depth:
            return found.start()
    return len(name)


class _Globs:
    """Several globs as one pattern, made when a name begins as one of them."""

    def __init__(self, globs: Iterable[str] = ()) -> None:
        self._globs = list(globs)
        self._begins = tuple(map(_literal_begin, self._globs))
        self._matches: Callable[[str], re.Match[str] | None] | None = None

    def add(self, glob: str) -> None:
        self._globs.append(glob)
        self._begins = (*self._begins, _literal_begin(glob))
        self._matches = None

    def any(self, name: str) -> bool:
        if not name.startswith(self._begins):
            return False
        if self._matches is None:
            self._matches = one_of(self._globs)
        return self._matches(name) is not None


def _literal_begin(glob: str) -> str:
    return re.split(r"[*?[]", glob, maxsplit=1)[0]


class Namespaces:
    """Namespaces that a release puts into names and rows leave out, by the outermost one."""

    def __init__(self, inline: Iterable[Mapping[str, tuple[str, ...]]]) -> None:
        globs: dict[str, list[str]] = {}
        for table in inline:
            for root, names in table.items():
                globs.setdefault(root, []).extend(names)
        self._globs = globs
        self._inline = {root: _Globs(names) for root, names in globs.items()}

    def skips(self, root: str, name: str) -> bool:
        inline = self._inline.get(root)
        return inline is not None and inline.any(name)

    def mention(self, classes: Iterable[str]) -> Callable[[str], re.Match[str] | None]:
        """A search for the names of these classes in linkage names."""
        found = []
        for name in classes:
            root, *rest = name.split("::")
            skipped = "|".join(r"\d+" + re.escape(g).replace(r"\*", r"\w*?") for g in self._globs.get(root, ()))
            inline = f"(?:{skipped})*?" if skipped else ""
            own = [f"{len(part)}{re.escape(part)}" for part in rest]
            found.append(
                ("St" if root == "std" else f"{len(root)}{re.escape(root)}") + "".join(inline + o for o in own)
            )
        return re.compile("|".join(found) or r"(?!)").search

    def plain(self, parts: Parts) -> str:
        """As a row says it."""
        inline = self._inline.get(parts[0]) if parts else None
        if inline is not None:
            parts = (parts[0], *(p for p in parts[1:-1] if not inline.any(p)), *parts[1:][-1:])
        return "::".join(parts)


class TypeNames:
    """Exact names first, then globs; the answer is the row index, -1 for none."""

    def __init__(self, patterns: list[tuple[str, int]], namespaces: Namespaces | None = None) -> None:
        self._exact = {name: row for name, row in reversed(patterns) if not is_glob(name)}
        self._globs = [(name, row) for name, row in patterns if is_glob(name)]
        self._any_glob = _Globs(name for name, _ in self._globs)
        self._namespaces = namespaces or Namespaces(())
        self._seen: dict[str, int] = {}

    def find(self, name: str) -> int:
        row = self._seen.get(name)
        if row is None:
            row = self._seen[name] = self._find(name)
        return row

    def _find(self, name: str) -> int:
        bare = name.removeprefix("struct ").removeprefix("class ").removeprefix("union ")
        row = self._exact.get(bare, -1)
        if row < 0:
            row = self._by_glob(bare)
        if row < 0 and ("::" in bare or "<" in bare):
            plain = self._namespaces.plain(scopes(bare))
            row = self._exact.get(plain, -1)
            if row < 0:
                row = self._by_glob(plain)
        return row

    def _by_glob(self, name: str) -> int:
        if not self._any_glob.any(name):
            return -1
        return next(row for glob, row in self._globs if fnmatch.fnmatchcase(name, glob))


class LinkageNames:
    """Reads the linkage names of C++ functions that some row may speak of."""

    def __init__(self, namespaces: Namespaces) -> None:
        self.namespaces = namespaces
        self._second: dict[str, set[str] | None] = {}  # what follows the first scope in a row, None for anything
        self._root_globs = _Globs()
        self._seen: dict[str, Mangled | None] = {}

    def expect(self, qualified: str) -> None:
        """A row speaks of this function or class."""
        root, second, *_ = [*qualified.split("::"), ""]
        if is_glob(root):
            self._root_globs.add(root)
        elif not second or is_glob(second):
            self._second[root] = None  # whatever it is
        elif (known := self._second.setdefault(root, set())) is not None:
            known.add(second)

    def expect_methods(self, of: str, methods: frozenset[str]) -> None:
        """A row speaks of these methods of a class, which may be one of the outermost scope."""
        if "::" in of or is_glob(of) or of in self._second:
            self.expect(f"{of}::*")
        else:
            self._second[of] = set(methods)

    def read(self, name: str) -> Mangled | None:
        """Remembered, since every table of rows asks for the same names."""
        if name in self._seen:
            return self._seen[name]
        if len(self._seen) >= MAX_REMEMBERED:
            self._seen.clear()
        found = self._seen[name] = self._read(name)
        return found

    def _read(self, name: str) -> Mangled | None:
        head = _HEAD.match(name)
        if head is None:
            return None
        at = head.end()
        root = "std"
        if not head[1]:
            root, at = _name_at(name, at)
        known = self._second.get(root, ())
        if known == ():
            return parse(name) if self._root_globs.any(root) else None
        while known is not None:
            second, after = _name_at(name, at)
            if not second or second in known:
                break
            if not self.namespaces.skips(root, second):
                return None
            at = after
        return parse(name)


def _name_at(text: str, at: int) -> tuple[str, int]:
    """The identifier at an offset of a linkage name and where it ends; "" for none."""
    found = _NAME.match(text, at)
    if found is None:
        return "", at
    end = found.end() + int(found[1])
    return text[found.end() : end], end


def word_of(name: str) -> str:
    """A word that is in each linkage name or path that a row with this name speaks of, "" for none that surely is.

    The longest, since it is in the fewest others.
    """
    words = [] if "[" in name else re.findall(r"\w+", name)
    return max((w for w in words if w not in _ENCODED and not w.startswith("operator")), key=len, default="")


class FunctionNames(Generic[_T]):
    """What rows say of functions: C names and linkage names as they are, C++ names as ``scope::name``; globs last."""

    def __init__(self, linkage: LinkageNames) -> None:
        self._linkage = linkage
        self._exact: dict[str, list[_T]] = {}
        self._qualified: dict[str, list[_T]] = {}
        self._globs: list[tuple[str, _T]] = []
        self._any_glob = _Globs()
        self._has_cxx = False
        self._rust: list[tuple[str, _T]] = []
        self._words: set[str] = set()  # of the rows that are not of one exact name; "" where one has none
        self._seen: dict[str, list[_T]] = {}
        self._looked_for: set[str] = set()  # by ``among``, which ``_found`` these
        self._found: set[str] = set()

    def among(self, names: Sequence[str]) -> list[int]:
        """Rows of the names that ``find`` knows.  Of those that it does not it is remembered: several passes ask."""
        if "" in self._words:
            return [row for row, name in enumerate(names) if self.find(name)]
        fresh = [name for name in names if name not in self._looked_for]
        if fresh:
            if len(self._looked_for) + len(fresh) > MAX_REMEMBERED:
                self._looked_for.clear()
                self._found.clear()
                fresh = list(names)
            exact, mentioned = self._exact, mentioning(fresh, self._words)
            some = {name for name in fresh if name in exact}.union(fresh[at] for at in mentioned)
            self._found.update(name for name in some if self.find(name))
            self._looked_for.update(fresh)
        return [row for row, name in enumerate(names) if name in self._found] if self._found else []

    def add(self, name: str, value: _T, *, rust: bool = False) -> None:
        for known in (self._seen, self._looked_for, self._found):
            known.clear()
        if rust or "::" in name or is_glob(name):
            self._words.add(word_of(name))
        if rust:
            self._rust.append((name, value))
            return
        is_cxx, name = "::" in name, name.removeprefix("::")
        if is_cxx:
            self._has_cxx = True
            self._linkage.expect(name)
        if is_glob(name):
            self._globs.append((name, value))
            self._any_glob.add(name)
        elif is_cxx:
            self._qualified.setdefault(name, []).append(value)
        else:
            self._exact.setdefault(name, []).append(value)

    def find(self, name: str) -> list[_T]:
        """By linkage name, or by the readable name of a Rust function.  Remembered: several passes ask."""
        known = self._seen.get(name)
        if known is None:
            if len(self._seen) >= MAX_REMEMBERED:
                self._seen.clear()
            known = self._seen[name] = self._find(name)
        return known

    def _find(self, name: str) -> list[_T]:
        known = self._exact.get(name)
        if known is not None:
            return known
        if name.startswith("_Z"):
            if not self._has_cxx:
                return []
            read = self._linkage.read(name)
            return self.of_qualified(self._linkage.namespaces.plain(read.parts)) if read is not None else []
        if "::" in name and self._rust:
            path = rust_path(name)
            return [value for glob, value in self._rust if fnmatch.fnmatchcase(path, glob)]
        return self._of_glob(name)

    def of_qualified(self, name: str) -> list[_T]:
        known = self._qualified.get(name)
        return known if known is not None else self._of_glob(name)

    def _of_glob(self, name: str) -> list[_T]:
        if not self._any_glob.any(name):
            return []
        return [value for glob, value in self._globs if fnmatch.fnmatchcase(name, glob)]
