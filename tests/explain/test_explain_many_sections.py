"""Files of very many sections: what moved a section is only asked of those that moved, and not of each other one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sharing.explain import sections
from sharing.explain.identity import Vocabulary
from sharing.explain.sections import MAX_SECTIONS, section_shifts
from sharing.model.image import Section, SectionKind


def image(many: int, first_bytes: int = 8) -> Any:
    """Sections of 8 bytes side by side, the first one of another size."""
    rows = [Section(0, ".s0", SectionKind.WRITABLE, 0x1000, first_bytes, 8, 0)]
    rows += [
        Section(at, f".s{at}", SectionKind.WRITABLE, 0x1000 + first_bytes + 8 * (at - 1), 8, 8, 0)
        for at in range(1, many)
    ]
    return SimpleNamespace(sections=rows, synthetic=False)


@pytest.mark.parametrize(("many", "first_bytes"), [(MAX_SECTIONS, 8), (MAX_SECTIONS, 24), (4, 8)])
def test_nobody_looks_for_what_moved_nothing_or_too_much(
    monkeypatch: pytest.MonkeyPatch, many: int, first_bytes: int
) -> None:
    """Each look goes through all sections: of ten thousands that were minutes."""
    monkeypatch.setattr(sections, "_last_unmoved", lambda *_: pytest.fail("looked"))
    found = section_shifts(image(many), image(many, first_bytes), Vocabulary())
    moved = first_bytes - 8
    assert [row.shift for row in found.values()] == [0] + [moved] * (many - 1)
    assert {row.causes for row in found.values()} == ({(), (("sections in front", moved),)} if moved else {()})


def test_of_a_few_the_one_that_grew_is_named() -> None:
    found = section_shifts(image(4), image(4, 24), Vocabulary())
    assert [row.causes for row in found.values()] == [()] + [((".s0", 16),)] * 3
