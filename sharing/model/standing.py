"""Where a finding stands among those of its severity, as one number.

Owns the form of that number.  What is known of a finding is ``sharing.judge.standing``'s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_USERS = 99  # two digits; who has more is as far in front as matters
_WIDEST = 1024  # no finite number has more binary digits


@dataclass(frozen=True, slots=True, order=True)
class Standing:
    """What counts first stands first: how sure the meeting is, how many surely come there, how busy it is.

    ``meeting`` is a rank (0: nothing is known), ``users`` a number of kinds of threads, or of functions where it is not
    known who runs them, ``weight`` estimated executions.
    """

    meeting: int
    users: int
    weight: float

    @property
    def score(self) -> float:
        """Hundreds: the meeting; tens and ones: the users; behind the point: the weight, by powers of two."""
        busy = min(math.log2(1.0 + max(self.weight, 0.0)) / _WIDEST, 1.0)
        return round(self.meeting * (MOST_USERS + 1) + min(self.users, MOST_USERS) + min(busy, 0.999999), 6)
