"""Units of C made at random together with their facts, and what a compiler made of them.

Owns the generator, the reading of object files and the comparison.  The facts are made by hand from what was
generated, so that the model is tested alone, without the tool that reads facts from source.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
import pytest

from elfscan.image import read_images
from sharing.model import AccessKind, VariableFlag
from sharing.model.facts import Init, TypeTree, UnitOptions, VariableBits, VariableFacts
from sharing.model.types import TypeKind
from sharing.source.emission import Contribution, contributions
from sharing.source.references import FunctionReferences, Reference

X86 = "x86_64-pc-linux-gnu"


@dataclass(frozen=True)
class Shape:
    """A type: how a variable of it is declared, its tree, an initialiser, and an expression that uses all of it."""

    declaration: str
    tree: TypeTree
    value: str

    @property
    def reshaped(self) -> bool:
        """Does LLVM make the initial value {1} of another type?  A union, or eight and more zeros at the end."""
        members = re.search(r"\[(\d+)\]", self.declaration)
        return self.tree.kind == TypeKind.UNION or (members is not None and int(members.group(1)) > 8)


def _base(name: str, size: int) -> TypeTree:
    return TypeTree(TypeKind.BASE, name, size, size)


def _array(inner: TypeTree, count: int) -> TypeTree:
    return TypeTree(TypeKind.ARRAY, f"{inner.name}[{count}]", inner.size * count, inner.align, inner, count)


def _struct(size: int, align: int) -> TypeTree:
    return TypeTree(TypeKind.STRUCT, "s", size, align)


CHAR, SHORT, INT, LONG, DOUBLE = (
    _base("char", 1),
    _base("short", 2),
    _base("int", 4),
    _base("long", 8),
    _base("double", 8),
)
LONG_DOUBLE = _base("long double", 16)
POINTER = TypeTree(TypeKind.POINTER, "void *", 8, 8)
SHAPES = (
    Shape("char {}", CHAR, "1"),
    Shape("short {}", SHORT, "1"),
    Shape("int {}", INT, "1"),
    Shape("long {}", LONG, "1"),
    Shape("double {}", DOUBLE, "1"),
    Shape("long double {}", LONG_DOUBLE, "1"),
    *(Shape(f"char {{}}[{n}]", _array(CHAR, n), "{1}") for n in (1, 3, 7, 8, 15, 16, 24, 31, 32, 40, 100)),
    *(Shape(f"int {{}}[{n}]", _array(INT, n), "{1}") for n in (1, 3, 4, 7, 8, 20)),
    *(Shape(f"long {{}}[{n}]", _array(LONG, n), "{1}") for n in (1, 2, 3, 4, 9)),
    *(Shape(f"struct {{{{ char c[{n}]; }}}} {{}}", _struct(n, 1), "{{1}}") for n in (1, 5, 8, 17, 31, 32, 70)),
    *(Shape(f"struct {{{{ long c[{n}]; }}}} {{}}", _struct(8 * n, 8), "{{1}}") for n in (1, 2, 3, 4, 26)),
    Shape("struct {{ char c; int i; short s; }} {}", _struct(12, 4), "{1}"),
    Shape("struct {{ float f; double d; }} {}", _struct(16, 8), "{1}"),
    Shape("union {{ char c[9]; long l; }} {}", TypeTree(TypeKind.UNION, "u", 16, 8), "{{1}}"),
    Shape("struct __attribute__((aligned(64))) {{ int i; }} {}", _struct(64, 64), "{1}"),
    Shape("struct __attribute__((packed)) {{ char c; long l; }} {}", _struct(9, 1), "{1}"),
)


@dataclass
class Unit:
    """Source, and the facts of it.  ``names`` are the names of variables by identity, which here are the same."""

    source: str = ""
    variables: list[VariableFacts] = field(default_factory=list)
    functions: list[FunctionReferences] = field(default_factory=list)
    symbols: tuple[str, ...] = ()

    def named_by_function(self) -> Unit:
        """With clang's symbols: "function.name" for statics of functions."""
        named = [
            msgspec.structs.replace(v, symbol=f"{v.scope}.{v.name}" if v.scope else v.name) for v in self.variables
        ]
        return replace(self, variables=named)


def make(seed: int, language: str = "C", count: int = 60) -> Unit:
    """A unit with ``count`` variables at file scope and functions with statics of their own between them."""
    return _Maker(random.Random(seed), language).unit(count)


class _Maker:
    def __init__(self, rng: random.Random, language: str) -> None:
        self.rng, self.language = rng, language
        self.lines: list[str] = [
            'extern "C" void keep(void *); int made(int);' if language == "C++" else "void keep(void *);"
        ]
        self.unit_: Unit = Unit()
        self.usable: list[str] = []  # writable variables that a function may name
        self.deferred: list[str] = []  # functions that are dropped unless called
        self.static_functions: set[str] = set()
        self.inline_functions: set[str] = set()
        self.called: set[str] = set()
        self.refers: dict[str, tuple[str, ...]] = {}

    def unit(self, count: int) -> Unit:
        ahead = [f"late_{i}" for i in range(3)]
        for name in ahead:
            self.lines.append(f"extern int {name};")
            self.usable.append(name)
        for i in range(count):
            if i % 7 == 5:
                self.function(i)
            if ahead and self.rng.random() < 0.05:
                self.variable(ahead.pop(), Shape("int {}", INT, "1"), storage="")
            self.variable(f"v{i}", self.rng.choice(SHAPES))
        for name in ahead:
            self.variable(name, Shape("int {}", INT, "1"), storage="")
        self.function(count, everything=True)
        self.unit_.source = "\n".join(self.lines) + "\n"
        self.unit_.symbols = tuple(v.identity for v in self.unit_.variables)
        names = {name: i for i, name in enumerate(self.unit_.symbols)}
        self.unit_.variables = [
            msgspec.structs.replace(v, refers=tuple(names[t] for t in self.refers.get(v.identity, ())))
            for v in self.unit_.variables
        ]
        return self.unit_

    def variable(self, name: str, shape: Shape, storage: str | None = None, scope: str = "", column: int = 1) -> str:
        """Declare one; returns the declaration.  At file scope it is a line of its own."""
        rng = self.rng
        cpp = self.language == "C++"
        attribute, declared, section = "", 0, ""
        merged = scope in self.inline_functions
        if storage is None:
            storage = "static" if scope or rng.random() < 0.4 else ""
        bits = VariableBits.INLINE if merged else VariableBits.INTERNAL if storage else VariableBits(0)
        const = name[0] == "v" and rng.random() < 0.08
        if cpp and not storage and not const and name[0] == "v" and rng.random() < 0.15:
            storage, bits = "inline", VariableBits.INLINE
        elif not const and name[0] != "l" and rng.random() < 0.08:
            storage, bits = f"{storage} __thread".strip(), bits | VariableBits.THREAD
        elif "__attribute__" not in shape.declaration and rng.random() < 0.06:
            declared = rng.choice((4, 16, 64, 128))
            attribute = f"__attribute__((aligned({declared})))"
        elif not storage and not const and rng.random() < 0.06:
            attribute, bits = "__attribute__((weak))", bits | VariableBits.WEAK
        elif not const and not scope and rng.random() < 0.06:
            attribute, section = '__attribute__((section("mine")))', "mine"
        if not scope and not bits & VariableBits.INLINE and rng.random() < 0.05:
            attribute, bits = f"{attribute} __attribute__((used))".strip(), bits | VariableBits.USED
        never = VariableBits.THREAD | VariableBits.WEAK  # of a dynamic initialiser: gives these a guard of their own
        init, text, draw = Init.ZERO, "", rng.random()
        pointed = self.pointed(name, const or bool(scope) or bool(bits & VariableBits.THREAD))
        if pointed:
            self.refers[name] = (pointed,)
            shape, init, text = Shape("void *{}", POINTER, ""), Init.ADDRESSES, f" = (void *)&{pointed}"
        elif cpp and shape.tree.kind == TypeKind.BASE and not const and not bits & never and draw < 0.3:
            init, text = Init.DYNAMIC, f" = made({len(self.lines)})"
        elif const or draw < 0.35:
            init, text = Init.DATA, f" = {shape.value}"
            bits |= VariableBits.RESHAPED if shape.reshaped else VariableBits(0)
        elif draw < 0.45:
            text = " = {0}"
            bits |= VariableBits.RESHAPED if shape.tree.kind == TypeKind.UNION else VariableBits(0)
        elif not scope and not cpp:
            bits |= VariableBits.TENTATIVE
        if const:
            bits |= VariableBits.CONSTANT
            storage = f"{'extern' if cpp and not storage else storage} const".strip()
        typed = shape.declaration.replace("struct ", f"struct {name}_t ").replace("union ", f"union {name}_t ")
        if "__attribute__" in typed:
            typed = shape.declaration.replace(")) {{", f")) {name}_t {{{{")
        declaration = f"{storage} {typed.format(name)} {attribute}{text};".strip()
        if not scope:
            self.lines.append(declaration)
            self.usable.append(name)
        self.unit_.variables.append(
            VariableFacts(
                identity=name,
                symbol=_mangled(name, scope, scope in self.static_functions, "static" in storage) if cpp else name,
                name=name,
                scope=scope,
                type=shape.tree,
                size=shape.tree.size,
                align=shape.tree.align,
                declared_align=declared,
                section=section,
                bits=int(bits),
                init=init,
                order=len(self.unit_.variables),
                file=0,
                line=len(self.lines) + (1 if scope else 0),
                column=column,
                begin=0,
                end=0,
                name_begin=0,
            )
        )
        return declaration

    def pointed(self, name: str, never: bool) -> str:
        """The variable whose address an initialiser holds, "" for most."""
        known = [v.identity for v in self.unit_.variables if not v.scope and not v.bits & VariableBits.THREAD]
        return self.rng.choice(known) if known and not never and name[0] == "v" and self.rng.random() < 0.06 else ""

    def function(self, number: int, everything: bool = False) -> None:
        """One line: statics, uses of earlier variables (addresses that escape), calls of functions that need them."""
        rng = self.rng
        name = f"f{number}"
        kinds = ("static ", "inline ") if self.language == "C++" else ("static ",)
        kind = "" if everything or rng.random() < 0.5 else rng.choice(kinds)
        if kind == "static ":
            self.static_functions.add(name)
        if kind == "inline ":
            self.inline_functions.add(name)
        text = f"{kind}void {name}({'' if self.language == 'C++' else 'void'}) {{"
        mentioned: list[Reference] = []
        line = len(self.lines) + 1
        for k in range(rng.choice((0, 0, 1, 2, 3))):
            declaration = self.variable(f"s{number}_{k}", rng.choice(SHAPES), scope=name, column=len(text) + 1)
            text += f" {declaration} keep(&s{number}_{k});"
        if everything:
            rest = list(self.usable)
            chosen = [v for v in rest if rng.random() < 0.8]
            calls = [f for f in self.deferred if f not in self.called and rng.random() < 0.8]
        else:
            chosen = rng.sample(self.usable, min(len(self.usable), rng.randrange(6)))
            calls = [f for f in self.deferred if rng.random() < 0.3]
        steps = [(v, AccessKind.ADDRESS) for v in chosen] + [(f, AccessKind.UNKNOWN) for f in calls]
        rng.shuffle(steps)
        for target, how in steps:
            text += " "
            mentioned.append(Reference(target, how, line, len(text)))
            text += f"keep((void *)&{target});" if how is AccessKind.ADDRESS else f"{target}();"
            if how is AccessKind.UNKNOWN:
                self.called.add(target)
        self.lines.append(text + " }")
        if kind:
            self.deferred.append(name)
        own = [v for v in self.unit_.variables if v.scope == name]
        mentioned += [Reference(v.identity, AccessKind.ADDRESS, line, v.column + 1) for v in own]
        mentioned.sort(key=lambda r: r.column)
        self.unit_.functions.append(
            FunctionReferences(name, name, 0, line, 1, bool(kind), tuple(mentioned), kind == "inline ")
        )


def _mangled(name: str, scope: str, static_scope: bool, static: bool) -> str:
    """Itanium C++ ABI, 5.1, for statics."""
    own = f"{len(name)}{name}"
    return f"_ZZ{'L' * static_scope}{len(scope)}{scope}vE{own}" if scope else f"_ZL{own}" if static else name


_SUFFIX = re.compile(r"\.\d+$")

Layout = dict[str, tuple[int, tuple[tuple[str, int], ...]]]


def built(unit: Unit, folder: Path, command: tuple[str, ...], language: str = "C") -> Layout:
    """What the compiler made: section → (its alignment, (name, offset) by offset).  COMMON is by name, offset 0."""
    source = folder / ("unit.cpp" if language == "C++" else "unit.c")
    source.write_text(unit.source)
    done = subprocess.run(
        [*command, "-w", "-c", source, "-o", folder / "unit.o"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]
    (image,) = read_images(str(folder / "unit.o"), types=False, access=False)
    known = {v.identity for v in unit.variables}
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    alignments: dict[str, int] = {}
    for row in image.variables:
        symbol = image.names[row["name"]]
        name = readable(symbol)
        if name not in known or symbol.startswith("guard variable"):
            continue
        section = image.sections[row["section"]]
        if row["flags"] & VariableFlag.COMMON:
            found[f"COMMON {name}"].append((name, 0))
            alignments[f"COMMON {name}"] = 0
            continue
        label = _SUFFIX.sub("", section.name)
        found[label].append((name, int(row["address"]) - section.address))
        alignments[label] = section.alignment
    return {
        label: (alignments[label], tuple(sorted(members, key=lambda m: (m[1], m[0]))))
        for label, members in found.items()
    }


def predicted(contributions: tuple[Contribution, ...]) -> Layout:
    """The model's answer in the same form."""
    out: Layout = {}
    for c in contributions:
        members = tuple((m.identity, m.offset) for m in c.members)
        common = c.section == "COMMON"
        out[f"COMMON {members[0][0]}" if common else c.section] = (0 if common else c.alignment, members)
    return out


def readable(symbol: str) -> str:
    """The name in the source: without GCC's number, clang's function, or the scope that a demangler adds."""
    return re.split(r"::|\.", _SUFFIX.sub("", symbol))[-1]


def options_of(compiler: str, flags: tuple[str, ...]) -> UnitOptions:
    """The options that the flags stand for, with these compilers' default of position independent executables."""
    levels = [f[2:] for f in flags if f.startswith("-O")]
    pic = "-fno-pic" not in flags
    aarch64 = compiler.startswith("aarch64")
    return UnitOptions(
        compiler="clang" if "clang" in compiler else "gcc",
        level=levels[-1] if levels else "0",
        pic=pic,
        pie=pic and "-fPIC" not in flags,
        common="-fcommon" in flags,
        data_sections="-fdata-sections" in flags,
        toplevel_reorder="-fno-toplevel-reorder" not in flags,
        section_anchors=aarch64 and "-O0" not in flags and "-fno-section-anchors" not in flags,
    )


def compare(
    unit: Unit, folder: Path, compiler: str, flags: tuple[str, ...], language: str = "C", triple: str = X86
) -> None:
    """Assert that the model says what the compiler does.  A compiler that is not there is a skip."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    if "clang" in compiler and language == "C":
        unit = unit.named_by_function()
    model = contributions(
        unit.variables,
        options_of(compiler, flags),
        language,
        triple,
        functions=unit.functions,
        symbols=unit.symbols,
    )
    said, truth = predicted(model), built(unit, folder, (compiler, *flags), language)
    differ = [
        f"{n}: {compiler} {truth.get(n)}, model {said.get(n)}" for n in truth | said if truth.get(n) != said.get(n)
    ]
    assert not differ, "\n".join(differ)
