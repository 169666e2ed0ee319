"""Cases that take some of several builds each.

Owns which pairs of a case and a build are tested where a rule is one for all builds and compiling is most of a test:
each case by every second build, each build with every second case.  What looks different to a rule in each build takes
all of them, by two marks of pytest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pytest


def in_turns(
    names: str, builds: Sequence[tuple[str, ...]], cases: Mapping[str, object] | Iterable[str]
) -> pytest.MarkDecorator:
    """A mark for ``names``, those of a build behind that of its case; neighbours of ``builds`` are of other cases."""
    by_name = cases if isinstance(cases, Mapping) else {case: case for case in cases}
    pairs = [
        pytest.param(case, build, id=f"{name}-{' '.join(build)}")
        for row, (name, case) in enumerate(by_name.items())
        for column, build in enumerate(builds)
        if (row + column) % 2 == 0
    ]
    return pytest.mark.parametrize(names, pairs)
