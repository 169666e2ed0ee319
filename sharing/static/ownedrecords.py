"""Records that threads own: an entry takes a ``std::unique_ptr`` of one, or a vector of these, for itself.

Owns which entries do, by the parameters in their names.  Whoever starts such a thread moves its object there: nothing
else leads to that one any more, and threads that each own an object of one type do not meet in them, of whatever kinds
they are.  A reference to such a pointer, or a ``std::shared_ptr``, may be of several threads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from sharing.basics.naming import Demangle

MAX_BYTES = 8192  # of a linkage name
_OWNER = re.compile(
    r"(?:std::(?:__\w+::)?vector<)?std::(?:__\w+::)?unique_ptr<"
    r"(?P<record>.+?), ?std::(?:__\w+::)?default_delete<(?P=record) ?>"
)
_OPEN, _CLOSE = "(<[{", ")>]}"


def owned_records(entries: Sequence[str], demangle: Demangle) -> dict[str, int]:
    """By the name of a record a mask of those entries (linkage names) that own one."""
    found: dict[str, int] = defaultdict(int)
    wanted = [at for at, name in enumerate(entries) if "unique_ptr" in name and len(name) < MAX_BYTES]
    for at, text in zip(wanted, demangle([entries[at] for at in wanted]) if wanted else [], strict=True):
        for parameter in _parameters(text):
            if (owner := _OWNER.match(parameter)) and parameter.endswith(">"):
                found[owner["record"]] |= 1 << at
    return dict(found)


def _parameters(text: str) -> list[str]:
    """Those of a function, as in ``f(int, std::vector<int, std::allocator<int> >&) const``."""
    end = text.rfind(")")
    depth, last, found = 0, end, []
    for at in range(end, -1, -1):
        if text[at] in _CLOSE:
            depth += 1
        elif text[at] in _OPEN:
            depth -= 1
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[at + 1 : last].strip())
            last = at
        if depth == 0:
            break
    return found
