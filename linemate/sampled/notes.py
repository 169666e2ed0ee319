"""What a report says of its profiles: what they lack first, then what they showed.

Owns these sentences and their order.  Nothing is decided here: what a weak profile may clear is
``sharing.judge.sampled.join``'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sharing.basics import numbers
from sharing.judge.numbers import MIN_TIMED
from sharing.judge.sampled.verdict import Outcome, Verdicts
from sharing.model.arrays import picked
from sharing.model.attribution import Attribution, Basis, TouchFlag
from sharing.model.finding import NOT_EXERCISED, Confidence, Finding, Severity, Verdict
from sharing.model.plural import count, named
from sharing.model.samples import Field
from sharing.sampled.attribution.evaluate import RegisterFile
from sharing.sampled.lineuse.use import Totals

MOST_ASKED_HZ = 10_000  # a higher one costs more than it tells: then only a longer run helps
WORTH_TELLING = 0.05  # share of the samples, in loops that wait
MAX_NAMED = 3  # functions of such loops
TEXT_FORMAT = "perf script"
_SHARING = (Verdict.FALSE_SHARING, Verdict.READ_MOSTLY_DISTURBED)
_RECORD = "`linemate record`, or perf record -e cpu-clock -I -d"


def profile_notes(
    paths: Sequence[str],
    placed: Sequence[Attribution],
    totals: Totals,
    verdicts: Verdicts,
    findings: Sequence[Finding],
) -> list[str]:
    """1. what makes the profiles weak; 2. what they showed; 3. losses of each; 4. lines that could not show sharing."""
    out = [note for path, one in zip(paths, placed, strict=True) for note in _weak(path, one)]
    if totals.timed < MIN_TIMED:
        out.append(few_samples(round(totals.timed)))
    out.append(_shown(totals, verdicts, findings, placed))
    if verdicts.together is not None:
        out.append(f"keeping all data apart that waits for others' writes: estimated speed-up {verdicts.together.text}")
    out += _not_exercised(findings)
    out += _waiting(placed)
    for path, one in zip(paths, placed, strict=True):
        out += [f"{path}: {note}" for note in (*one.samples.counts.notes, *one.notes)]
        out += _unplaced(path, one)
    return [*out, *_time_sliced(verdicts)]


def few_samples(number: int, hz: int = 0) -> str:
    """What a short profile is good for, and how to get a longer one; ``hz`` is what it was recorded with, 0 unknown."""
    wanted = -(-hz * MIN_TIMED * 6 // (5 * max(number, 1) * 100)) * 100
    how = f"--frequency {wanted}" if 0 < wanted <= MOST_ASKED_HZ else "a higher --frequency"
    return (
        f"{number:,} samples are few: they can show sharing, but {MIN_TIMED:,} are needed to clear a finding whose "
        f"code took time; record for longer, or with {how}"
    )


def _not_exercised(findings: Sequence[Finding]) -> list[str]:
    """Findings of code that the load did not come to, apart from those that it speaks of."""
    apart = sum(not finding.exercised for finding in findings)
    return [f"{NOT_EXERCISED}, so that it says little of {count(apart, 'finding')} of the code"] * bool(apart)


def _waiting(placed: Sequence[Attribution]) -> list[str]:
    """Loops that only look whether another thread has written: their time is no cost of the line."""
    by_function: Counter[str] = Counter()
    for one in placed:
        rows = picked(one.rows, (one.rows["flags"] & TouchFlag.SPIN_WAITS != 0) & (one.rows["function"] >= 0))
        by_function.update(one.functions[number] for number in rows["function"].tolist())
    share = by_function.total() / max(sum(len(one.rows) for one in placed), 1)
    if share < WORTH_TELLING:
        return []
    where = named([name for name, _ in by_function.most_common()], MAX_NAMED)
    return [
        f"{100 * share:.0f} % of the samples are in loops that wait until another thread has written ({where}): what "
        f"they wait for takes that long, which no layout shortens; fewer such threads may, or threads that sleep"
    ]


def _weak(path: str, one: Attribution) -> list[str]:
    """What was not recorded, though all addresses depend on it."""
    samples = one.samples
    if RegisterFile.of(samples).any or any(event.fields & Field.ADDR for event in samples.events):
        return []
    if samples.recording.format == TEXT_FORMAT:
        lacks = "no registers" if len(samples.mappings) else "no registers, and without --show-mmap-events no mappings"
        return [f"{path}: TEXT OF `perf script` HAS {lacks}: give the perf.data file itself to --samples"]
    if not any(event.fields & Field.IP for event in samples.events):
        return []  # a listing of functions, which says so itself
    return [
        f"{path}: RECORDED WITHOUT REGISTERS: accesses through pointers have no place; it can show sharing, but clears "
        f"hardly any finding. Record with {_RECORD}"
    ]


def _known(one: Attribution) -> int:
    return int((one.rows["basis"] >= Basis.AWAITED).sum())


def _without_place(placed: Sequence[Attribution]) -> str:
    """Where the samples are that have no place, as shares of all; "" for less than one percent."""
    total = sum(len(one.rows) for one in placed)
    reasons: Counter[str] = Counter()
    for one in placed:
        reasons.update({name: n for name, n in one.counts().items() if name[0] == "u"})
        reasons["unattributed by function"] += int((one.rows["basis"] == Basis.FUNCTION).sum())
    shares = [(100 * n / max(total, 1), name.removeprefix("unattributed ")) for name, n in reasons.most_common()]
    told = [f"{share:.0f} % {_WHY.get(name, name.replace('_', ' '))}" for share, name in shares if share >= 1]
    return f" (the others: {', '.join(told)})" if told else ""


def _shown(totals: Totals, verdicts: Verdicts, findings: Sequence[Finding], placed: Sequence[Attribution]) -> str:
    """The profiles in one sentence, also where no finding rests on them."""
    counts = verdicts.counts
    alone = sum(counts.get(outcome.counter, 0) for outcome in (Outcome.ONE_THREAD, Outcome.NOT_JUDGED))
    several = counts.get("sampled lines", 0) - alone
    worth = sum(
        f.verdict in _SHARING and f.severity is not Severity.NOTE and f.confidence.rank >= Confidence.DERIVED.rank
        for f in findings
    )
    if worth:
        found = f"false sharing in {count(worth, 'finding')}"
    else:
        found = f"no false sharing above {100 * numbers.LOW_FROM:.0f} % of {totals.measure} found"
        lost = totals.share(totals.timed_unplaced)
        if lost.value >= numbers.LOW_FROM:
            found += f", though {100 * lost.value:.0f} % could not be placed and may belong to any line"
    share = 100 * sum(map(_known, placed)) / max(totals.samples, 1)
    return (
        f"from the profile: {count(totals.samples, 'sample')}, {share:.0f} % placed on bytes{_without_place(placed)}; "
        f"{count(several, 'line')} with samples of several threads; {found}"
    )


def _unplaced(path: str, one: Attribution) -> list[str]:
    """The reasons, where most samples have no place."""
    total, known = len(one.rows), _known(one)
    if 2 * known >= total:
        return []
    counts = one.counts().items()
    why = sorted(((n, name.removeprefix("unattributed ")) for name, n in counts if name[0] == "u"), reverse=True)
    shown = [f"{_WHY.get(name, name.replace('_', ' '))} {n:,}" for n, name in why[:3]]
    others = total - known - sum(n for n, _ in why[:3])
    reasons = ", ".join([*shown, *([f"for other reasons {others:,}"] if others > 0 else [])])
    copied = any(event.fields & Field.STACK_USER for event in one.samples.events)
    lost = [name for _, name in why[:1]] == ["overwritten"] and not copied
    more = "; `record --stacks` gives many of these one" if lost else ""
    return [f"{path}: {known:,} of {total:,} samples have a known place; of the others: {reasons}{more}"]


_WHY = {
    "no_access": "not at an access",
    "overwritten": "register overwritten",
    "no_registers": "registers not recorded",
    "no_code": "code not available",
    "kernel": "in the kernel",
    "by function": "known by their function alone",
}


def _time_sliced(verdicts: Verdicts) -> list[str]:
    """Lines whose sharing could not show."""
    lines = [j.line for j in verdicts.judged if j.outcome is Outcome.ONE_PROCESSOR]
    if not lines:
        return []
    names = ", ".join(dict.fromkeys(a.name for line in lines for a in line.actors[:2]))
    return [
        f"threads that use {count(len(lines), 'line')} ({_cut(names)}) had to take turns on a processor, or on those "
        f"that other programs left: this profile cannot show "
        f"what they would cost each other on several; record while each of them has a processor of its own"
    ]


def _cut(text: str, limit: int = 120) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
