"""How far whole sections moved, and which section before them grew.

Owns the account of section starts; what moves within a section is in ``shifts``.
"""

from __future__ import annotations

from dataclasses import dataclass

from sharing.explain.identity import Vocabulary
from sharing.model.image import Image, Section, SectionKind

MAX_SECTIONS = 512  # that are named one by one; linked files have less than a hundred


@dataclass(frozen=True, slots=True)
class SectionShift:
    """A section of both builds.  ``shift`` is of its start, ``grown`` of its size, in bytes.

    ``causes`` are (name, bytes) of the sections before it that grew, shrank, came or went, the largest first, from the
    last one on that begins where it did: what changed in front of that one moved nothing behind it.
    ``padding`` is what alignment of sections and segments adds.  shift = sum of causes + padding.
    """

    name: str
    old: Section
    new: Section
    shift: int
    causes: tuple[tuple[str, int], ...]
    padding: int

    @property
    def grown(self) -> int:
        return self.new.size - self.old.size


def section_shifts(old: Image, new: Image, words: Vocabulary) -> dict[int, SectionShift]:
    """The sections of both builds by the vocabulary's number of their name.

    Addresses of relocatable files are made up by their reader, one place per section: there no section moves.
    """
    fixed = old.synthetic or new.synthetic
    before, after = _by_name(old), _by_name(new)
    common = [name for name in after if name in before]
    out: dict[int, SectionShift] = {}
    for number, name in zip(words.ids(common).tolist(), common, strict=True):
        one, other = before[name], after[name]
        if fixed or one.kind is SectionKind.TLS:
            out[number] = SectionShift(name, one, other, 0, (), 0)
            continue
        shift = other.address - one.address
        causes: list[tuple[str, int]] = []
        if shift and len(before) + len(after) > MAX_SECTIONS:
            causes = [("sections in front", shift)]
        elif shift:
            since = _last_unmoved(before, after, one, other)
            names = {*before, *after}
            grown = {n: _bytes_before(after, n, other, since) - _bytes_before(before, n, one, since) for n in names}
            causes = sorted(((n, b) for n, b in grown.items() if b), key=lambda item: (-abs(item[1]), item[0]))
        out[number] = SectionShift(name, one, other, shift, tuple(causes), shift - sum(b for _, b in causes))
    return out


def _by_name(image: Image) -> dict[str, Section]:
    """The first section of each name."""
    out: dict[str, Section] = {}
    for section in image.sections:
        out.setdefault(section.name, section)
    return out


def _last_unmoved(before: dict[str, Section], after: dict[str, Section], one: Section, other: Section) -> int:
    """Where the last section in front of one begins that begins there in both builds; 0 where all moved."""
    limit = min(one.address, other.address)
    return max(
        (
            section.address
            for name, section in after.items()
            if section.address < limit
            and section.kind is not SectionKind.TLS
            and name in before
            and before[name].address == section.address
        ),
        default=0,
    )


def _bytes_before(sections: dict[str, Section], name: str, limit: Section, since: int) -> int:
    """Bytes that a section takes below the start of ``limit``, if it begins at ``since`` or behind."""
    section = sections.get(name)
    if section is None or section.kind is SectionKind.TLS or not since <= section.address < limit.address:
        return 0
    return min(section.size, limit.address - section.address)
