"""What was sampled and measured of two builds, read for ``linemate explain``: parts of files, events, functions.

Owns the choice of events, and the naming of sampled functions by the image they were taken in.  Formats
are the readers' (``pmu``, ``sharing.explain.tables``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from elfscan.debug.demangle import demangle
from elfscan.fileformat.elf import ElfFile, map_file
from linemate.filepart import split_part
from linemate.tabletext import chosen
from pmu import read_samples
from sharing.basics.naming import readable_names
from sharing.explain.causes.base import is_file
from sharing.explain.dispersion import BLOCKS, stretches
from sharing.explain.samples import Profile
from sharing.explain.tables.base import Measurement, without_builds
from sharing.model.errors import LinemateError
from sharing.model.image import Image
from sharing.model.samples import LOAD_DTYPE, Event, Field, Rows, Samples, load_biases
from sharing.static.callees import function_name

MAX_EVENTS_SHOWN = 8
# What tells most about lines first; an event is known by a word of its name.
_TELLING = ("hitm", "snoop", "llc", "cache", "miss", "mem", "l1", "l2", "l3", "cycles", "clock")


def measurements_of(
    old_inputs: tuple[str, ...], new_inputs: tuple[str, ...]
) -> tuple[tuple[Measurement, ...], tuple[Measurement, ...], tuple[str, ...]]:
    """The measurements of both builds, files of equal labels being repetitions, and what was taken of which text.

    Raises LinemateError where both sides name the same: a document with the figures of both needs to be told which.
    """
    old, new = ([chosen(given) for given in given_to] for given_to in (old_inputs, new_inputs))
    if old_inputs and old_inputs == new_inputs:
        raise LinemateError(
            f"--bench-old and --bench-new both name {old_inputs[0]}: choose the part of each build with FILE#PART"
        )
    taken = tuple(f"measurements of {c.took}" for c in (*old, *new) if c.took)
    before, after = without_builds(*((m for one in side for m in one.measurements) for side in (old, new)))
    return before, after, taken


@dataclass(frozen=True, slots=True)
class Sampled:
    """One profile of one build, read once.  ``by_function`` are its events by name, ``numbers`` their rows in it."""

    path: str
    samples: Samples
    by_function: dict[str, Profile]
    numbers: dict[str, int]


Recordings = tuple[Sampled, ...]  # of one build


def profiles_of(
    old_texts: tuple[str, ...], new_texts: tuple[str, ...], old: Image, new: Image
) -> tuple[Recordings, Recordings, tuple[str, ...]]:
    """Profiles of both builds, and the events that all of them have, the most telling first.

    Raises LinemateError where they have no event in common, or where a profile is of the other build.
    """
    before = tuple(_sampled(*split_part(text), old, new) for text in old_texts)
    after = tuple(_sampled(*split_part(text), new, old) for text in new_texts)
    first = before[0]
    for other, text in zip((*before[1:], *after), (*old_texts[1:], *new_texts), strict=True):
        if not first.by_function.keys() & other.by_function.keys():
            raise LinemateError(
                f"{old_texts[0]} has samples of {', '.join(first.by_function)}, {text} of "
                f"{', '.join(other.by_function)}: the same event has to be sampled in both builds"
            )
    common = [name for name in first.by_function if all(name in side.by_function for side in (*before, *after))]
    if not common:
        raise LinemateError("the profiles have no event that all of them sampled")
    common.sort(key=_telling)
    return before, after, tuple(common[:MAX_EVENTS_SHOWN])


def _telling(event: str) -> int:
    return next((rank for rank, word in enumerate(_TELLING) if word in event.lower()), len(_TELLING))


def _sampled(path: str, part: str, image: Image, other: Image) -> Sampled:
    """By event: samples of each function, as the profile names it or as the image does."""
    samples = read_samples(path)
    _of_this_build(path, samples, image, other)
    number_of, names = _names(samples, image)
    out: dict[str, Profile] = {}
    numbers: dict[str, int] = {}
    for number, event in enumerate(samples.events):
        if part and part.lower() not in event.label.lower():
            continue
        rows = np.flatnonzero(samples.samples["event"] == number)
        if not len(rows):
            continue
        weight = _counts(samples.samples[rows], event, listing=samples.recording.format == "oprofile")
        stretch = stretches(samples.samples["time"][rows])
        found = np.zeros((len(names), BLOCKS), np.int64)
        np.add.at(found, (number_of[rows], stretch), weight)
        counts: Counter[str] = Counter()
        blocks: dict[str, npt.NDArray[np.int64]] = {}
        for at in np.flatnonzero(found.any(axis=1)).tolist():
            counts[names[at]] += int(found[at].sum())
            blocks[names[at]] = blocks.get(names[at], 0) + found[at]
        if event.name in out:
            headings = [e.label for e in samples.events if e.name == event.name]
            raise LinemateError(
                f"{path}: several listings of {event.name}; choose one with {path}#PART, a part of its heading: "
                + ", ".join(repr(heading) for heading in headings)
            )
        total = max(event.listed_total, sum(counts.values()))
        rates = (_per_second(samples.samples[rows], event),)
        out[event.name] = Profile(event.name, counts, total, blocks, found.sum(axis=0), rates=rates)
        numbers[event.name] = number
    if not out:
        labels = ", ".join(repr(event.label) for event in samples.events if event.label)
        raise LinemateError(
            f"{path}: no samples" + (f" under {part!r}; listings are {labels or 'unnamed'}" if part else "")
        )
    return Sampled(path, samples, out, numbers)


def _per_second(rows: npt.NDArray[Any], event: Event) -> float:
    """Events a second of the recording, 0 where it has no times."""
    if not event.fields & Field.TIME:
        return 0.0
    seconds = float(rows["time"].max() - rows["time"].min()) / 1e9
    return float(rows["period"].sum()) / seconds if seconds > 0 else 0.0


def _counts(rows: npt.NDArray[Any], event: Event, *, listing: bool) -> npt.NDArray[np.int64]:
    """How many samples each row stands for: a row of a listing for many."""
    if not listing or event.sample_period <= 0:
        return np.ones(len(rows), np.int64)
    return (rows["period"] // np.uint64(event.sample_period)).astype(np.int64)


def _of_this_build(path: str, samples: Samples, image: Image, other: Image) -> None:
    """Raise LinemateError where the build-ids say that the profile is of the other build."""
    ids = set(samples.build_ids)
    if image.build_id and other.build_id and image.build_id not in ids and other.build_id in ids:
        raise LinemateError(f"{path}: was recorded with {other.path}, not with {image.path} (by their build-ids)")


def _names(samples: Samples, image: Image) -> tuple[Rows, list[str]]:
    """(number of the name of each sample's function, names): the profile's own name, else the image's, else a file."""
    table = samples.samples
    names = [known.name or f"[{Path(known.image).name}]" for known in samples.symbols]
    out = table["symbol"].astype(np.int64)
    left = np.flatnonzero((out < 0) & (table["mapping"] >= 0))
    files = samples.mappings["path"][table["mapping"][left]]
    for number in np.unique(files).tolist():
        rows, path = left[files == number], samples.paths[number]
        out[rows] = len(names)
        names.append(f"[{Path(path).name}]")
        if is_file(image) and _is_image(samples, rows, path, image):
            function = _functions_of(samples, rows, image)
            inside = function >= 0
            used, at = np.unique(function[inside], return_inverse=True)
            out[rows[inside]] = len(names) + at
            names += [function_name(image, row) for row in used.tolist()]
    names.append("[unknown]")
    out[out < 0] = len(names) - 1
    shown = readable_names(names, demangle)
    return out, [shown[name] for name in names]


def _is_image(samples: Samples, rows: Rows, path: str, image: Image) -> bool:
    known = {int(n) for n in samples.mappings["build_id"][samples.samples["mapping"][rows]].tolist() if n >= 0}
    ids = {samples.build_ids[n] for n in known}
    if ids and image.build_id:
        return image.build_id in ids
    return Path(path).name == Path(image.path).name


def _functions_of(samples: Samples, rows: Rows, image: Image) -> Rows:
    """Rows of the image's functions that hold the sampled instructions, -1 for none."""
    elf = ElfFile(image.path, map_file(image.path))
    loads = np.zeros(len(elf.loads), LOAD_DTYPE)
    for name, column in (("offset", "offset"), ("address", "address"), ("size", "file_size"), ("flags", "flags")):
        loads[name] = elf.loads[column]
    biases, known = load_biases(samples.mappings, loads)
    mapping = samples.samples["mapping"][rows]
    with np.errstate(over="ignore"):
        link = samples.samples["ip"][rows] - biases[mapping]
    table = image.functions
    if not len(table):
        return np.full(len(rows), -1, np.int64)
    at = np.searchsorted(table["address"], link, "right").astype(np.int64) - 1
    row = np.maximum(at, 0)
    inside = (at >= 0) & known[mapping] & (link < table["address"][row] + table["size"][row])
    return np.where(inside, at, -1)
