"""Functions of stripped builds that touch no static storage and call nothing: known by their instructions alone."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from sharing.explain import identity
from sharing.explain.match import MatchBasis, match_functions
from sharing.explain.nameless import UNRECOGNISED, under_one_name
from sharing.explain.samples import Profile
from sharing.model.comparison import CauseKind
from tests.explain.conftest import Explain

# Each differs from the others in what it computes; all are reached through a table.
BODIES = {
    "sum": "long s = 0; for (long i = 0; i < n; ++i) s += p[i] * 3; return s;",
    "fold": "long s = 7; for (long i = 0; i < n; ++i) s = (s << 5) ^ (s >> 3) ^ p[i]; return s;",
    "most": "long s = p[0]; for (long i = 1; i < n; ++i) if (p[i] > s) s = p[i]; return s;",
    "put": "for (long i = 0; i < n; ++i) p[i] = n - i * 5 + p[i] % 9; return n;",
    "twin_a": "long s = 0; while (n-- > 0) s -= p[n] / 11; return s;",
    "twin_b": "long s = 0; while (n-- > 0) s -= p[n] / 11; return s;",
}
IN_FRONT = "long added(long *p, long n) { long s = 1; for (long i = 0; i < n; ++i) s *= p[i] | 1; return s; }"
ANOTHER = {"most": "long s = n; while (s > 1 && p[s & 3] != n) s = s * s + p[0] - (s >> 7); return s;"}


def source(bodies: dict[str, str], more: str = "") -> str:
    functions = "\n".join(
        f"__attribute__((noinline)) static long {name}(long *p, long n) {{ {body} }}" for name, body in bodies.items()
    )
    table = ", ".join(bodies) + (", added" if more else "")
    return (
        f"{more}\n{functions}\ntypedef long (*step)(long *, long);\nstep volatile steps[] = {{{table}}};\n"
        "int main(int argc, char **argv) { long p[8] = {argc}; return (int)steps[argc & 3](p, 8) + !argv; }\n"
    )


def built(folder: Path, name: str, text: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    out = folder / name
    keep = "-fno-ipa-icf"  # else gcc makes one function of the twins
    subprocess.run(["gcc", "-O2", keep, "-s", "-o", str(out), str(folder / f"{name}.c")], check=True)
    return out


def test_all_are_known_again_where_something_came_in_front(tmp_path: Path, explained: Explain) -> None:
    found = explained(built(tmp_path, "old", source(BODIES)), built(tmp_path, "new", source(BODIES, IN_FRONT)))
    assert found.functions.matched == found.functions.old
    assert found.functions.new == found.functions.old + 1


def test_one_that_was_written_anew_is_not_taken_for_another(tmp_path: Path, explained: Explain) -> None:
    found = explained(built(tmp_path, "old", source(BODIES)), built(tmp_path, "new", source({**BODIES, **ANOTHER})))
    assert found.functions.matched == found.functions.old - 1
    assert CauseKind.CODE not in {ruled.kind for ruled in found.ruled_out}


@pytest.fixture
def sides(tmp_path: Path) -> tuple[identity.Objects, identity.Objects]:
    """The functions of two builds; the new one has one more in front, and another body of ``most``."""
    from linemate.explaining.builds import only_image

    words = identity.Vocabulary()
    texts = source(BODIES), source({**BODIES, **ANOTHER}, IN_FRONT)
    paths = [built(tmp_path, f"build{at}", text) for at, text in enumerate(texts)]
    old, new = (identity.functions(only_image(str(path)), words) for path in paths)
    return old, new


def test_a_profile_has_one_name_for_a_function_at_two_addresses(
    sides: tuple[identity.Objects, identity.Objects],
) -> None:
    from elfscan.traits import read_traits
    from sharing.explain.samecode import code_numbers

    old, new = sides

    one, other = (partial(code_numbers, side.image, read_traits(side.image.path)) for side in (old, new))
    matching = match_functions(old, new, (one, other))
    by_body = matching.pairs[matching.pairs["how"] == MatchBasis.BODY]
    assert len(by_body) >= len(BODIES) - 1
    names = [f"fn_{int(old.address[row]):x}" for row in by_body["old"].tolist()]
    moved = [f"fn_{int(new.address[row]):x}" for row in by_body["new"].tolist()]
    assert names != moved
    lost = next(int(row) for row in np.flatnonzero((matching.of_old < 0) & ~old.named))
    before, after = under_one_name(
        Profile("cycles", {**dict.fromkeys(names, 10), f"fn_{int(old.address[lost]):x}": 5, "puts": 1}, 66),
        Profile("cycles", dict.fromkeys(moved, 10), 60),
        matching,
    )
    assert {name for name in before.counts if name.startswith("fn_")} == set(moved) == set(after.counts)
    assert before.counts[UNRECOGNISED] == 5
    assert before.counts["puts"] == 1
