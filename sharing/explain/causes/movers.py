"""What moved data, in words: the symbol that did most, how many others did, and bytes that add up to the move.

Owns these phrases.  Whose bytes they are is ``blame``'s; which pair they moved is ``layout``'s.
"""

from __future__ import annotations

from collections.abc import Sequence

from sharing.explain.causes.base import quoted, signed_bytes
from sharing.model.comparison import Contribution, Share
from sharing.model.plural import count

SYMBOL_SHARES = {
    Share.ADDED,
    Share.REMOVED,
    Share.RESIZED,
    Share.REALIGNED,
    Share.ARRIVED,
    Share.LEFT,
    Share.SECTION,
}
# Of bytes in front of a pair that are at another place now, so that "moved away" is not read as gone.
_ELSEWHERE = {Share.LEFT: "is elsewhere now, no longer in front", Share.ARRIVED: "came in front from elsewhere"}


def named(contributions: Sequence[Contribution]) -> list[Contribution]:
    """Those with a name that moved it as a whole moved, the largest first; what went the other way moved nothing."""
    total = total_of(contributions)
    found = [c for c in contributions if c.share in SYMBOL_SHARES and c.name]
    return [c for c in found if c.bytes * total > 0] or found


def total_of(contributions: Sequence[Contribution]) -> int:
    """By how many bytes they move what lies behind them."""
    return sum(c.bytes for c in contributions)


def movers(contributions: Sequence[Contribution]) -> str:
    """The subject of a sentence: who moved, together by as much as all contributions; "" where no symbol did."""
    found = named(contributions)
    if not found:
        return ""
    top = found[0]
    reach = "up to the next symbol" if top.inferred else ""
    about = ", ".join(part for part in (top.share.value, signed_bytes(top.bytes), reach, top.source) if part)
    of_symbols = [c for c in contributions if c.symbols or c.share is Share.SECTION]
    others = sum(c.symbols or 1 for c in of_symbols) - 1
    by = total_of(of_symbols)
    parts = [f"{quoted(top.name)} ({about})"]
    if others:
        noun = "other" if any(c.share is Share.SECTION for c in of_symbols) else "other symbol"
        parts.append(f"{count(others, noun)}, {signed_bytes(by)} in all,")
    if rest := total_of(contributions) - by:
        parts.append(f"{signed_bytes(rest)} {_without_symbol(contributions)}")
    return " and ".join(parts)


def _without_symbol(contributions: Sequence[Contribution]) -> str:
    """What the bytes are that are no symbol's."""
    shares = {c.share for c in contributions if not c.symbols and c.share is not Share.SECTION and c.bytes}
    padding = ["of padding"] if Share.ALIGNMENT in shares else []
    return " and ".join([*padding, *(["without a symbol"] if shares - {Share.ALIGNMENT} else [])])


def words(contribution: Contribution) -> str:
    """One contribution as evidence: ``-8 bytes: a is elsewhere now, no longer in front``."""
    share = _ELSEWHERE.get(contribution.share, contribution.share.value)
    what = share if not contribution.name else f"{contribution.name} {share}"
    if contribution.share is Share.OTHERS:
        what = f"{count(contribution.symbols, 'other symbol')}" if contribution.symbols else what
    reach = "up to the next symbol" if contribution.inferred else ""
    where = ", ".join(part for part in (contribution.source, reach) if part)
    where = f" ({where})" if where else ""
    return f"{signed_bytes(contribution.bytes)}: {what}{where}"
