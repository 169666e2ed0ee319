"""The pairs: what is done to each project, and what is right to say of it.

Owns the list.  What follows for the layout is read from the symbols (``truth``), since an edit moves data differently
under each compiler and linker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from bench.pairs.building import Variant
from bench.pairs.projects import Project
from bench.pairs.truth import Root


@dataclass(frozen=True, slots=True)
class Pair:
    """One pair.  ``roots`` are what was done; ``layout`` says what a pair of busy data that met has to be told with,
    None where it would be a consequence of a root.  ``loaded``: the root counts only where loaded bytes differ.
    """

    name: str
    project: Project
    old: Variant
    new: Variant
    roots: tuple[Root, ...] = ()
    layout: tuple[tuple[str, ...], ...] | None = ()
    loaded: bool = False


BASE = Variant()
Row = tuple[str, tuple[str, ...], tuple[str, ...]]  # name, flags, words of which the explanation has to have one
LINKED: tuple[Row, ...] = (
    ("gold", ("-fuse-ld=gold",), ("gold",)),
    ("lld", ("-fuse-ld=lld",), ("lld",)),
    ("mold", ("-fuse-ld=mold",), ("mold",)),
    ("norelro", ("-Wl,-z,norelro",), ("relro",)),
    ("now", ("-Wl,-z,now",), ("now",)),
    ("sysv-hash", ("-Wl,--hash-style=sysv",), ("hash",)),
    ("sorted", ("-Wl,--sort-section=alignment",), ("sort",)),
    ("build-id", ("-Wl,--build-id=md5",), ("build-id",)),
    ("separate", ("-Wl,-z,noseparate-code",), ("segment", "separate-code")),
)
FLAGS: tuple[Row, ...] = (
    ("O3", ("-O3",), ("-O3",)),
    ("O1", ("-O1",), ("-O1",)),
    ("Os", ("-Os",), ("-Os",)),
    ("protector", ("-fstack-protector-strong",), ("stack-protector",)),
    ("no-plt", ("-fno-plt",), ("-fno-plt",)),
    ("no-common", ("-fno-common",), ("-fno-common",)),
    ("common", ("-fcommon",), ("-fcommon",)),
    ("data-sections", ("-fdata-sections",), ("-fdata-sections",)),
    ("function-sections", ("-ffunction-sections",), ("-ffunction-sections",)),
    ("lto", ("-flto",), ("-flto",)),
    ("march", ("-march=x86-64-v3",), ("-march",)),
    ("frame-pointer", ("-fno-omit-frame-pointer",), ("-fno-omit-frame-pointer",)),
)


def pairs(project: Project) -> Iterator[Pair]:
    """All pairs of one project."""

    def named(edit: str) -> tuple[tuple[str, ...], ...]:
        return ((project.names[edit],),)

    def tool(words: tuple[str, ...]) -> tuple[Root, ...]:
        return (Root("toolchain", (words,)),)

    yield Pair("identical", project, BASE, BASE)
    yield Pair("comment", project, BASE, Variant(edits=("comment",)))
    yield Pair("text", project, BASE, Variant(edits=("text",)))
    for edit in ("add", "far", "retype"):
        yield Pair(edit, project, BASE, Variant(edits=(edit,)), layout=named(edit))
    yield Pair("remove", project, Variant(edits=("add",)), BASE, layout=named("add"))
    yield Pair("remove-far", project, Variant(edits=("far",)), BASE, layout=named("far"))
    yield Pair("reorder", project, BASE, Variant(edits=("reorder",)))
    yield Pair("link-order", project, BASE, Variant(reverse=True), tool(("order",)), layout=None)
    for edit in ("hot", "cold"):
        yield Pair(edit, project, BASE, Variant(edits=(edit,)), (Root("code", named(edit)),))
    for name, flags, words in FLAGS:
        yield Pair(name, project, BASE, Variant(flags=flags), tool(words), layout=None, loaded=True)
    yield Pair("clang", project, BASE, Variant(compiler="clang"), tool(("clang",)), layout=None)
    for name, link, words in LINKED:
        yield Pair(name, project, BASE, Variant(link=link), tool(words), layout=None, loaded=True)
    if not project.library:
        static = Variant(flags=("-fno-pie",), link=("-no-pie",))
        yield Pair("no-pie", project, BASE, static, tool(("pie",)), layout=None)
        yield Pair("no-pie-link", project, BASE, Variant(link=("-no-pie",)), tool(("pie",)), layout=None)
    yield Pair("library", project, BASE, Variant(stubs=("extra",)), (Root("dependency", (("libextra",),)),))
    yield Pair("allocator", project, BASE, Variant(stubs=("tcmalloc",)), (Root("dependency", (("tcmalloc",),)),))
    swap = Root("dependency", (("jemalloc",), ("tcmalloc",)))
    yield Pair("allocators", project, Variant(stubs=("tcmalloc",)), Variant(stubs=("jemalloc",)), (swap,))
    yield from _stripped(project)
    yield from _mixed(project, named)


def _stripped(project: Project) -> Iterator[Pair]:
    """Both sides stripped: what names an edit is gone, and what says which flags there were."""
    base = Variant(stripped=True)
    yield Pair("stripped identical", project, base, base)
    yield Pair("stripped add", project, base, Variant(edits=("add",), stripped=True))
    yield Pair("stripped far", project, base, Variant(edits=("far",), stripped=True))
    yield Pair("stripped hot", project, base, Variant(edits=("hot",), stripped=True), (Root("code"),))
    yield Pair("stripped gold", project, base, Variant(link=("-fuse-ld=gold",), stripped=True),
               (Root("toolchain", (("gold", "linker"),)),), layout=None)  # fmt: skip
    yield Pair("one stripped", project, BASE, base)


def _mixed(project: Project, named: Callable[[str], tuple[tuple[str, ...], ...]]) -> Iterator[Pair]:
    """Two changes at once; either may come first, both have to be told."""
    hot = Root("code", named("hot"))
    gold, level = Root("toolchain", (("gold",),)), Root("toolchain", (("-O3",),))
    both = Variant(edits=("add",))
    yield Pair("add, O3", project, BASE, replace(both, flags=("-O3",)), (level,), layout=named("add"))
    yield Pair("add, tcmalloc", project, BASE, replace(both, stubs=("tcmalloc",)),
               (Root("dependency", (("tcmalloc",),)),), layout=named("add"))  # fmt: skip
    yield Pair("hot, gold", project, BASE, Variant(edits=("hot",), link=("-fuse-ld=gold",)), (hot, gold), layout=None)
    yield Pair("hot, add", project, BASE, Variant(edits=("hot", "add")), (hot,), layout=named("add"))
    yield Pair("hot, tcmalloc", project, BASE, Variant(edits=("hot",), stubs=("tcmalloc",)),
               (hot, Root("dependency", (("tcmalloc",),))))  # fmt: skip
