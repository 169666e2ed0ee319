"""Functions that run rarely by what they are called or where they were put.

Owns the reading of names: first and last word against the start-up, shut-down and diagnosis vocabulary.  A name
is weak evidence; it discounts a frequency and decides nothing alone.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from sharing.knowledge import Knowledge
from sharing.model.image import FunctionFlag, Image

_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LENGTH = re.compile(r"(\d+)")


def cold_functions(image: Image, knowledge: Knowledge) -> npt.NDArray[np.bool_]:
    """Functions in cold sections, of the run-time's own start-up, or with a cold first or last word (one row each)."""
    cold: npt.NDArray[np.bool_] = (image.functions["flags"] & FunctionFlag.COLD) != 0
    vocabulary = knowledge.cold
    # One search over the lower-cased name says whether the slow look at its words can find anything.
    hint = re.compile("|".join(sorted(vocabulary.all | vocabulary.anywhere)))
    runtime = knowledge.threads.runtime_functions
    for row, name in enumerate(image.functions["name"].tolist()):
        if name < 0:
            continue
        text = image.names[name]
        if text in runtime or (hint.search(text.lower()) and _is_cold(text, vocabulary.all, vocabulary.anywhere)):
            cold[row] = True
    return cold


def _is_cold(text: str, words: frozenset[str], anywhere: frozenset[str]) -> bool:
    if text.startswith("_Z"):
        text = last_component(text)
    camel = [p.lower() for p in _WORDS.findall(text)]
    parts = [p for p in text.lower().replace(".", "_").split("_") if p]
    if len(parts) <= 1:
        parts = camel
    return bool(parts) and (parts[0] in words or parts[-1] in words or not anywhere.isdisjoint(camel))


def last_component(mangled: str) -> str:
    """The last source name of an Itanium-mangled function, enough for word matching."""
    last, at = mangled, 2
    while (m := _LENGTH.search(mangled, at)) is not None and m.start() - at <= 2:
        size = int(m.group(1)[:4])
        if m.end() + size > len(mangled):
            break
        last, at = mangled[m.end() : m.end() + size], m.end() + size
    return last
