"""Whether the two files are builds of one program at all.

Owns the doubt that stands in front of the answer, and the answer where there is no doubt: what differs between two
programs explains nothing.
"""

from __future__ import annotations

from sharing.explain import numbers
from sharing.explain.causes.base import Builds, is_file, is_library
from sharing.explain.identity import Objects
from sharing.explain.literals import texts_of_both
from sharing.explain.ownnames import own_names
from sharing.model.comparison import Cause, CauseKind, Comparison
from sharing.model.finding import Confidence
from sharing.model.image import FunctionFlag, Image


def unrelated(builds: Builds) -> str:
    """Why these are two programs, "" where they may be one.

    Hardly any function and variable of the smaller one is in the other, and the imports, which neither flags nor the
    compiler change by much, are others too; or they print other texts; or no word of a name that its source gives is in
    both.  Of listings, nothing is known.
    """
    return _of_other_imports(builds) or _of_other_texts(builds) or _of_other_names(builds)


def _of_other_names(builds: Builds) -> str:
    """Small programs differ in few imports and texts, and share the start-up code; one name may have been changed."""
    functions, variables = builds.functions, builds.variables
    sides = (functions.old, variables.old), (functions.new, variables.new)
    if not all(is_file(code.image) and code.complete and code.named.any() for code, _ in sides):
        return ""
    old, new = (own_names(*side, builds.demangle) for side in sides)
    words = [{part for name in names for part in name} for names in (old, new)]
    if min(len(old), len(new)) <= 1 or not words[0].isdisjoint(words[1]):
        return ""
    return (
        f"these are no builds of one program: of the functions and variables that one defines, {len(old)} and "
        f"{len(new)} without start-up code and the language's library, the other has none by name"
    )


def _of_other_texts(builds: Builds) -> str:
    """Programs of one project share functions of its library, and the texts of these, and print others of their own.

    A build with another library, or with more linked in, has nearly all texts of the one with less.
    """
    functions, of = len(builds.functions.pairs), _smaller(builds.functions.old, builds.functions.new)
    if not of or functions > numbers.OTHER_WITH_LIBRARY * of:
        return ""
    texts = texts_of_both(builds.old.image, builds.old_traits, builds.new.image, builds.new_traits)
    if texts.smaller < numbers.LEAST_TEXTS or texts.both > numbers.CONTAINED_TEXTS * texts.smaller:
        return ""
    if texts.both > numbers.OTHER_TEXTS * texts.either:
        return ""
    return (
        f"these are no builds of one program: {texts.both} of {texts.either} texts that they print, and {functions} of "
        f"{of} functions, are in both"
    )


def _of_other_imports(builds: Builds) -> str:
    old, new = _imports(builds.old.image), _imports(builds.new.image)
    shared, either = len(old & new), len(old | new)
    functions, of_functions = len(builds.functions.pairs), _smaller(builds.functions.old, builds.functions.new)
    variables, of_variables = len(builds.variables.pairs), _smaller(builds.variables.old, builds.variables.new)
    few = numbers.OTHER_PROGRAM
    if not old or not new or shared > numbers.OTHER_IMPORTS * either:
        return ""
    if not of_functions or functions > few * of_functions or variables > few * of_variables:
        return ""
    return (
        f"these are no builds of one program: {functions} of {of_functions} functions, {variables} of {of_variables} "
        f"variables and {shared} of {either} imports are in both"
    )


def doubt(builds: Builds) -> str:
    """Why the two files, which may be of one program, may as well not be; "" where nothing says so."""
    old, new = builds.old.image, builds.new.image
    if is_file(old) and is_file(new) and is_library(old) != is_library(new):
        one, other = ("a library" if is_library(image) else "a program" for image in (old, new))
        return f"OLD is {one} and NEW is {other}: are they builds of one program?"
    old_row = builds.variables.pairs["old"]
    named = builds.variables.pairs[builds.variables.old.named[old_row]]
    pairs, smaller = len(named), min(int(builds.variables.old.named.sum()), int(builds.variables.new.named.sum()))
    if smaller and pairs < numbers.FEW_MATCHED * smaller:
        return (
            f"only {pairs} of {smaller} named variables are in both files: are they builds of one program, "
            "and does one lack its symbols?"
        )
    return ""


def two_programs(builds: Builds, why: str) -> Cause:
    """No cause: whatever differs between two programs."""
    old, new = builds.old.image, builds.new.image
    return Cause(
        kind=CauseKind.NONE,
        confidence=Confidence.STATIC,
        strength=0.0,
        summary=f"{why}; nothing is compared",
        confirm=(f"nm -D {old.path}", f"nm -D {new.path}: other functions of other libraries"),
        refute=("builds of both with debug information: their functions and variables have the same names",),
    )


def is_of_two_programs(comparison: Comparison) -> bool:
    """Whether nothing was compared: a comparison counts what its lists were cut from."""
    return not comparison.coverage.counts


def own(objects: Objects) -> int:
    """Objects that could have a partner: stubs for calls into libraries are no functions of the program."""
    stubs = (objects.image.functions["flags"] & FunctionFlag.STUB) != 0 if objects.code else None
    return len(objects) if stubs is None else int((~stubs).sum())


def _smaller(old: Objects, new: Objects) -> int:
    return min(own(old), own(new))


def _imports(image: Image) -> set[str]:
    """Without versions, and without the checks that -D_FORTIFY_SOURCE adds to functions of the C library."""
    return {name.partition("@")[0].removeprefix("__").removesuffix("_chk") for name in image.imports}
