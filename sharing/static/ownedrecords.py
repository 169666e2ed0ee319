"""Records that threads own: an entry takes a ``std::unique_ptr`` of one, or a vector of these, for itself.

Owns which entries do, by the parameters in their names.  Whoever starts such a thread moves its object there: nothing
else leads to that one any more, and threads that each own an object of one type do not meet in them, of whatever kinds
they are.  A reference to such a pointer, or a ``std::shared_ptr``, may be of several threads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from sharing.basics.naming import Demangle, parameters_of
from sharing.knowledge.mangled import MAX_NAME_CHARS

_OWNER = re.compile(
    r"(?:std::(?:__\w+::)?vector<)?std::(?:__\w+::)?unique_ptr<"
    r"(?P<record>.+?), ?std::(?:__\w+::)?default_delete<(?P=record) ?>"
)


def owned_records(entries: Sequence[str], demangle: Demangle) -> dict[str, int]:
    """By the name of a record a mask of those entries (linkage names) that own one."""
    found: dict[str, int] = defaultdict(int)
    wanted = [at for at, name in enumerate(entries) if "unique_ptr" in name and len(name) <= MAX_NAME_CHARS]
    for at, text in zip(wanted, demangle([entries[at] for at in wanted]) if wanted else [], strict=True):
        for parameter in parameters_of(text):
            if (owner := _OWNER.match(parameter)) and parameter.endswith(">"):
                found[owner["record"]] |= 1 << at
    return dict(found)
