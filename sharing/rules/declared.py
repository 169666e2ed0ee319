"""Arrays that are declared with the alignment of a line, and whose elements are smaller.

Owns what that declaration says, and how severe a finding is that rests on it.
"""

from __future__ import annotations

from sharing.model.finding import Confidence, Severity
from sharing.model.profile import Actor, Heat
from sharing.rules import numbers
from sharing.rules.line.base import Context


def aligned_as_a_whole(actor: Actor, ctx: Context) -> bool:
    """Is it of an array of smaller elements that is declared with the alignment of a line?

    Of numbers one alone says little, which are aligned for vectors as well; where threads change elements it says that
    they were meant to be apart.  Of source a rule on declarations says so.
    """
    if ctx.of_source or ctx.confidence is not Confidence.STATIC or not actor.sized:
        return False
    stride = actor.stride or max((a.stride for a in actor.writers), default=0)
    begin, end = actor.owner_span
    count = actor.count if actor.count > 1 else (end - begin) // max(stride, 1)
    whole = count >= numbers.MIN_SLOTS and begin <= actor.span[0] < begin + stride and count * stride == end - begin
    words = stride >= numbers.NUMBER_BYTES or any(a.atomic for a in actor.writers)
    return actor.alignment >= ctx.line_size > stride and whole and words


def grade_declared(actor: Actor) -> Severity:
    """How severe it is that threads change elements of such an array: the rule on declarations says the same."""
    return Severity.MEDIUM.raised() if actor.heat is Heat.HOT else Severity.MEDIUM


def aligned_text(actor: Actor) -> str:
    return f"{actor.owner} is aligned to {actor.alignment} bytes as a whole: its elements are meant to be apart"
