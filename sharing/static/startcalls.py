"""Threads that a call of a library's template starts: ``std::thread(f, &data)`` where that is no code of the caller's.

Owns the way from such a call to the function that the thread runs and to what that is handed.  The template's name has
the types of all that it is given: the first one that can be called runs, with what the others refer to.  Compilers
leave such calls without optimization, and where two places use one template.  Where the object of a thread is made in
the caller its words tell (``startobjects``), as they do without names.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from sharing.basics.naming import Demangle, listed_types, parameters_of, without_parameters
from sharing.knowledge import Knowledge
from sharing.model.arrays import among, distinct
from sharing.model.given import Given
from sharing.model.image import HELD, HELD_OFFSET_BITS, WHOLE_ARGUMENT, Image
from sharing.static.callees import functions_called
from sharing.static.handovers import ADDRESS_MASK
from sharing.static.startobjects import (
    argument_holder,
    closure_words,
    is_code,
    of_one_object,
    step_of,
    value_at_call,
    with_closure_words,
    word_at_call,
)

_MEMBER = re.compile(r"^[^(]*\([^()]*::\*[ const]*&{0,2}\)\((.*)\)[^()]*$")
_FUNCTION = re.compile(r"^[^(]*\((&{1,2}|\*[ const]*&{0,2})\)\((.*)\)[^()]*$")
_INTEGER = re.compile(r"(?:unsigned |signed )?(?:char|short|int|long|long long)|bool|wchar_t")
_TUPLE, _TASK = "std::tuple<", "_Task_setter"
_LIBRARY = ("_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx")
_ASYNC = "std::__future_base::_Async_state_impl<"
_TOKEN = "std::stop_token"  # handed by its address, and in front of all others


class _Template(NamedTuple):
    """``at``: the argument that is called, ``called`` its type, ``handed`` the types of those behind."""

    at: int
    called: str
    handed: list[str]
    is_task: bool  # of a future, not of a thread's object


class _Start(NamedTuple):
    """A call that starts a thread by a template, and the row of that."""

    ip: int
    row: int
    template: _Template


def with_start_calls(image: Image, knowledge: Knowledge, demangle: Demangle) -> Image:
    """The image with what threads are handed that are started so."""
    told = {one.ip for one in image.given}
    starts = [one for one in _starts(image, knowledge, demangle) if one.ip not in told]
    if not starts and not image.given:
        return image
    methods = _Methods(image, knowledge, demangle, {one.template.called for one in starts})
    given: list[Given] = []
    closures: list[tuple[int, int, dict[int, int]]] = []
    unknown: set[int] = set()
    for one in starts:
        entry, bodies = methods.of(one.template.called), methods.bodies(one.template)
        if entry is not None:
            closures.append((one.ip, entry[0], closure_words(image, one.row, one.template.at, one.ip)))
            given += [_told(one, entry[0], *data) for data in _data(image, one, entry[1], 1)]
        if bodies.own:
            given += [_told(one, own, 0, 0, by) for own in bodies.own for by in bodies.around or [0]]
        else:
            found = list(_handed(image, one))
            given += [_told(one, *each, by) for each in found for by in bodies.around or [0]]
            unknown.update(bodies.around if not found else ())
    given = [msgspec.structs.replace(one, is_whole=False) if one.caller in unknown else one for one in given]
    image = with_closure_words(image, closures)
    every = [again for one in (*image.given, *given) for again in methods.tasks(one)]
    return dataclasses.replace(image, given=of_one_object(every))


def _told(one: _Start, entry: int, argument: int, what: int, by: int = 0) -> Given:
    return Given(one.ip, entry, argument, what & ADDRESS_MASK, by, is_whole=by != 0, stride=step_of(what))


def _starts(image: Image, knowledge: Knowledge, demangle: Demangle) -> Iterator[_Start]:
    called = functions_called(image)
    names = {
        row: image.names[name]
        for row in distinct(called[called >= 0]).tolist()
        if (name := image.functions["name"][row]) >= 0
    }
    # Of a template's arguments the first is behind an ``I`` (Itanium C++ ABI, 5.1.5.2): most names need no look.
    names = {row: name for row, name in names.items() if name.startswith("_Z") and "I" in name}
    rows, listed = [*names], [*names.values()]
    begin = {*knowledge.thread_starters(listed), *(at for at, name in enumerate(listed) if knowledge.takes_entry(name))}
    texts = zip([rows[at] for at in sorted(begin)], demangle([listed[at] for at in sorted(begin)]), strict=True)
    templates = {row: template for row, text in texts if (template := parsed(text)) is not None}
    calls = among(called, np.array(sorted(templates), np.int64)) & (image.calls["function"] >= 0)
    for at in np.flatnonzero(calls).tolist():
        row, name = int(called[at]), image.functions["name"][image.calls["function"][at]]
        if name >= 0 and image.names[name].startswith(_LIBRARY):
            continue  # the library hands on what it is given
        yield _Start(int(image.calls["ip"][at]), row, templates[row])


def parsed(text: str) -> _Template | None:
    """What a template of this readable name is given, where one thing of that can be called."""
    if not without_parameters(text).endswith(">"):
        return None
    parameters = parameters_of(text)
    for at, one in enumerate(parameters):
        if _MEMBER.match(one) or _FUNCTION.match(one) or one.endswith("&&"):
            # In front of these is the thread, or where the result is put.
            return _Template(at + 1, one, parameters[at + 1 :], "std::async<" in text)
    return None


class _Bodies(NamedTuple):
    """Addresses of functions that a library's object runs: the one that is what the thread does, and those around."""

    own: list[int]
    around: list[int]


class _Methods:
    """Functions that run what threads are given, by the types of that."""

    def __init__(self, image: Image, knowledge: Knowledge, demangle: Demangle, types: set[str]) -> None:
        plain = {_plain(one) for one in types if not _is_function(one)}
        self._calls = _operators(image, demangle, plain) if plain else {}
        self._names = _bodies(image, knowledge, demangle)

    def of(self, called: str) -> tuple[int, list[str]] | None:
        """Of an object (address of the function that a call of it is, types of what that is handed); else None."""
        return self._calls.get(_plain(called))

    def bodies(self, template: _Template) -> _Bodies:
        """Of such a thread's object; the function that a pointer leads to is what the thread does."""
        held = _decayed(template.called)
        found = {text: at for text, at in self._names.items() if _holds(text, held)}
        tasks = [at for text, at in found.items() if _TASK in text]
        direct = [at for text, at in found.items() if _TASK not in text and _holds(text.partition(_TUPLE)[2], held, "")]
        if _is_function(template.called):
            return _Bodies([], list(found.values()))
        own = tasks if template.is_task else direct
        return _Bodies(own, [at for at in found.values() if at not in own and template.is_task])

    def tasks(self, one: Given) -> list[Given]:
        """``one``; where that runs what a future is for, the functions that are its task."""
        asked = [text for text, at in self._names.items() if at == one.entry and text.startswith(_ASYNC)]
        kind = asked[0].removeprefix(_ASYNC).partition(">::_M_run")[0] if asked else ""
        tasks = [at for text, at in self._names.items() if kind and _TASK in text and kind in text]
        around = [one.entry, *([one.caller] if one.caller else [])]
        return [Given(one.ip, at, 0, 0, by, is_whole=True) for at in tasks for by in around] or [one]


def _holds(text: str, held: str, before: str = "std::tuple<") -> bool:
    """Does this name say that the first of a closure's words is of such a type?"""
    ways = (f"{before}{held}{end}" for end in (">", " >", ","))
    return any(way in text if before else text.startswith(way) for way in ways)


def _is_function(called: str) -> bool:
    return bool(_MEMBER.match(called) or _FUNCTION.match(called))


def _decayed(called: str) -> str:
    """The type that a closure keeps of what it is given."""
    if not _is_function(called):
        return _plain(called)
    held = re.sub(r"\((?:&{1,2}|\*[ const]*&{0,2})\)", "(*)", called, count=1)
    return re.sub(r"(::\*[ const]*)&{0,2}\)", r"\1)", held, count=1)


def _plain(text: str) -> str:
    return text.rstrip("& ").removesuffix(" const")


def _operators(image: Image, demangle: Demangle, types: set[str]) -> dict[str, tuple[int, list[str]]]:
    """By type whose objects can be called."""
    rows = [
        row for row, name in enumerate(image.functions["name"].tolist()) if name >= 0 and "clE" in image.names[name]
    ]
    texts = demangle([image.names[image.functions["name"][row]] for row in rows])
    found = {}
    for row, text in zip(rows, texts, strict=True):
        owner, called, _ = text.rpartition("::operator()(")
        if called and owner in types:
            found[owner] = int(image.functions["address"][row]), parameters_of(text)
    return found


def _bodies(image: Image, knowledge: Knowledge, demangle: Demangle) -> dict[str, int]:
    """Addresses of the functions that run what is in a thread's object, or in a future's task, by their names."""
    names = [image.names[name] if name >= 0 else "" for name in image.functions["name"].tolist()]
    rows = {row for row in knowledge.thread_entries(names) if names[row].startswith("_Z")}
    rows |= {row for row, name in enumerate(names) if _TASK in name and "9_M_invoke" in name}
    texts = zip(sorted(rows), demangle([names[row] for row in sorted(rows)]), strict=True)
    return {text: int(image.functions["address"][row]) for row, text in texts if _TUPLE in text}


def _handed(image: Image, one: _Start) -> Iterator[tuple[int, int, int]]:
    """(function, its argument, what that leads to) of a function or method."""
    called = one.template.called
    member = _MEMBER.match(called)
    function = _FUNCTION.match(called)
    if function is not None and function[1].startswith("&"):
        holder = argument_holder(one.row, one.template.at)
        code = value_at_call(image, int(HELD) | holder << HELD_OFFSET_BITS, one.ip)
    else:
        code = word_at_call(image, one.row, one.template.at, one.ip)
    if not is_code(image, code):
        return
    types = ["void*", *listed_types(member[1])] if member is not None else listed_types(function[2]) if function else []
    data = list(_data(image, one, types, 0))
    yield from ((code, *each) for each in data or [(0, 0)])


def _data(image: Image, one: _Start, types: Sequence[str], first: int) -> Iterator[tuple[int, int]]:
    """(argument of a function that takes these types, from ``first`` on, what that leads to) of what is handed on."""
    handed = one.template.handed
    skipped = 1 if len(types) == len(handed) + 1 and types[0] == _TOKEN else 0
    at = first + skipped
    for number, (takes, given) in enumerate(zip(types[skipped:], handed, strict=False)):
        if takes.endswith(("*", "&")):
            if _plain(given).endswith("*") or given.startswith("std::reference_wrapper<"):
                what = word_at_call(image, one.row, one.template.at + 1 + number, one.ip)
                if what and at < WHOLE_ARGUMENT:
                    yield at, what
        elif takes in ("float", "double"):
            continue  # in registers of other kinds
        elif not _INTEGER.fullmatch(takes) and takes != _TOKEN:
            return  # nobody knows in how many registers
        at += 1
