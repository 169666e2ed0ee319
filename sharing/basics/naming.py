"""Names as a report shows them.

Owns the shortening of function names to what identifies them in a sentence: of C++ the qualified name without
parameters, return type or template arguments' insides beyond a limit, of threads in C++ and Rust what they run; and of
members to what the program names; of the kind that is said behind a name, and of the types of parameters in one.
Demangling itself is passed in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sharing.model.linkage import as_written

# Where std::atomic keeps its value in libstdc++ and in libc++.
_ATOMIC_VALUE = re.compile(r"(?:^|\.)(?:(?:_M_base|_M_b)\.)?_M_[ip]$|(?:^|\.)__a_(?:\.__a_value)?$")
# Where the atomic types of Rust's standard library keep theirs.
_RUST_ATOMIC = "core::sync::atomic::Atomic"
_RUST_VALUE = re.compile(r"(?:^|\.)v\.value(?:\.__0)?$")
# Names that C and C++ keep for their libraries: what such a member is a part of is one thing to the program.
_LIBRARY = re.compile(r"\.(?:_[A-Z]|__).*$")
_ELEMENT = re.compile(r"\[[0-9]+\]")
# What std of Rust puts around a thread's closure, up to the type of that: two functions, by the names of both schemes
# that have types.
_RUST_THREAD = re.compile(
    r"std::sys(?:_common)?::backtrace::__rust_begin_short_backtrace::<"
    r"|<(?:std::thread::\w+|<std::thread::(?:\w+::)?Builder>)::spawn_unchecked_?(?:::)?<"
    r"(?=.* as core::ops::function::FnOnce<)"
)
# libstdc++'s body of a std::thread, or of what std::async starts, up to the type of what it calls.
_THREAD = re.compile(
    r"std::(?:thread::_State_impl|__future_base::_Async_state_impl)<std::thread::_Invoker<std::tuple<(?=.*::_M_run$)"
    r"|std::_Function_handler<.*std::__future_base::_Task_setter<.*std::thread::_Invoker<std::tuple<(?=.*::_M_invoke$)"
)
# What a lock without a symbol is called: its place, and the kind by the calls that take it.
_PLACE_AND_KIND = re.compile(r"\+0x[0-9a-f]+ \([^()]+\)$")

# What compilers spell in several ways within template arguments: integer types, integers, and spaces.
_INTEGER = re.compile(r"\b(?:unsigned|signed|long|short|int|char)(?: (?:unsigned|signed|long|short|int|char))*\b")
_SUFFIX = re.compile(r"\b([0-9]+)[uUlL]+\b")
_SPACE = re.compile(r"\s*([^\w\s])\s*")

Demangle = Callable[[list[str]], list[str]]


def with_kind(name: str, kind: str) -> str:
    """``LOCK_open (mutex)``; a place that is called ``bss+0x40 (mutex)`` says what it is already.

    Calls of two kinds may take what is at one place, and say two kinds of it: the one of its name, which every table
    and picture has, is enough.
    """
    return name if _PLACE_AND_KIND.search(name) else f"{name} ({kind})"


def readable_names(names: list[str], demangle: Demangle) -> dict[str, str]:
    """``readable`` of every name, with one call of ``demangle`` for all."""
    bases = {name: name.partition(".") for name in names if name.startswith("_Z")}
    plain = demangle([base for base, _, _ in bases.values()])
    found = {
        name: without_wrapper(without_parameters(text)) + dot + clone
        for (name, (_, dot, clone)), text in zip(bases.items(), plain, strict=True)
    }
    # Names of profiles were demangled by the tool that made them.
    return {name: found[name] if name in found else without_wrapper(as_written(name)) for name in names}


def readable(name: str, demangle: Demangle) -> str:
    """``_Z16tc_release_tableP5Table`` as ``tc_release_table``; names that are not C++ stay as they are."""
    return readable_names([name], demangle)[name]


def by_any_compiler(name: str) -> str:
    """The name that ids are made of: ``Ring<long unsigned int, 8ul>::head`` as ``Ring<unsigned long,8>::head``.

    gcc, clang, demanglers and the analyzer each spell template arguments in their own way.
    """
    if "<" not in name:
        return name
    return _SPACE.sub(r"\1", _SUFFIX.sub(r"\1", _INTEGER.sub(_as_c, name)))


def _as_c(found: re.Match[str]) -> str:
    """An integer type in the shortest words: ``long unsigned int`` is ``unsigned long``."""
    words = found[0].split()
    if "char" in words:
        return " ".join(sorted(words, reverse=True))
    size = " ".join(word for word in words if word in ("long", "short")) or "int"
    return f"unsigned {size}" if "unsigned" in words else size


def without_wrapper(name: str) -> str:
    """What a std::thread runs, in place of the library's function that runs it, where the type says what it is."""
    match = _THREAD.match(name) or _RUST_THREAD.match(name)
    if match is None:
        return name
    depth, start = 0, match.end()
    for at in range(start, len(name)):
        c = name[at]
        if depth == 0 and c in ",>":
            body = name[start:at].strip()
            # A pointer's type is not the function that it points to.
            return name if not body or "*)" in body or body.startswith("fn(") else body
        depth += (c in "<({[") - (c in ">)}]")
    return name


def without_internals(path: str, via: Sequence[str] = ()) -> str:
    """``requests._M_i`` as ``requests``: the library's member is all of the program's.

    ``via``: names of the types around the member (``Member.via``), of which one is an atomic type where ``v.value`` in
    Rust is such a member.
    """
    if any(name.startswith(_RUST_ATOMIC) for name in via):
        path = _RUST_VALUE.sub("", path)
    return _ATOMIC_VALUE.sub("", path)


def without_parameters(name: str) -> str:
    """Cut the parameter list: the last parenthesis group at template depth 0, with what follows it."""
    if name.endswith("}"):  # a lambda: the parameters before it are those of the function that it is in
        return name
    depth = 0
    end = len(name)
    at = len(name) - 1
    while at >= 0:
        c = name[at]
        if c in ")>" and not name.endswith("operator>", 0, at + 1):
            depth += 1
        elif c in "(<":
            depth -= 1
            if depth == 0 and c == "(":
                end = at
                break
        at -= 1
    cut = name[:end].rstrip() if at >= 0 else name
    # "(anonymous namespace)::f" and "operator()" keep their parentheses.
    if not cut or cut.endswith(("::", "operator")):
        return name
    return cut


def parameters_of(name: str) -> list[str]:
    """The types between the last parentheses of a function's readable name; none of what only looks like one."""
    rest = name[len(without_parameters(name)) :].strip()
    return listed_types(rest[1 : rest.rindex(")")]) if rest.startswith("(") and ")" in rest else []


def listed_types(text: str) -> list[str]:
    """Types with commas between them."""
    found, depth, begin = [], 0, 0
    for at, c in enumerate(text):
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and not depth:
            found.append(text[begin:at].strip())
            begin = at + 1
    return [one for one in [*found, text[begin:].strip()] if one]


def as_declared(name: str) -> str:
    """A full name by what the program declares: the variable or its member, all elements of an array as one."""
    return _ELEMENT.sub("[]", _LIBRARY.sub("", name))
