"""What every format says of a comparison in the same words: titles, pairs, contributions, figures.

Owns phrases, not markup: names in them are as they were read, and each emitter makes them safe in its own way.
"""

from __future__ import annotations

import re
import shlex

from reports.escape import bytes_in_words
from sharing.model.comparison import (
    LIKELY_FROM,
    POSSIBLE_FROM,
    SAMPLES_NEW,
    SAMPLES_OLD,
    Cause,
    CauseKind,
    Comparison,
    Contribution,
    LineMates,
    MeasuredChange,
    SampledChange,
    Sensitivity,
    Share,
    ShareChange,
    ShiftRun,
    SymbolChange,
)
from sharing.model.finding import NAMES, NO_ANSWER, NO_ARCHITECTURE, NOTHING_THERE, Confidence, Target
from sharing.model.plural import count, named

RUNS_SHOWN = 12
CHANGES_SHOWN = 20
PAIRS_SHOWN = 6
MOVED_SHOWN = 6
EVIDENCE_SHOWN = 8
MEASURED_SHOWN = 12
CONTRIBUTIONS_SHOWN = 4
NOTHING_EXPLAINS = "nothing found here explains a slower program"
_DEBUG_FILE = re.compile(r"(--debug-(?:old|new)) (/?\w[^\s,)]*/[^\s,)]+)")  # in a note on what was unpacked
_WHAT_FILE = "FILE being a build before it was stripped, or the file of its debug package"
FEW = 20  # one of so many variables or functions that are in one build alone is no news


def title(cause: Cause) -> str:
    """``static, strength 0.90``; of what got better, that it did."""
    parts = ["by positions alone" if cause.confidence is Confidence.LAYOUT else cause.confidence.value]
    if cause.strength:
        parts.append(f"strength {cause.strength:.2f} ({_likelihood(cause.strength)})")
    if cause.follows is not None:
        parts.append(f"follows from the {cause.follows.value}")
    if cause.improves:
        parts.append("an improvement")
    return ", ".join(parts)


def _likelihood(strength: float) -> str:
    """In words; the bounds are those of the table in docs/explain.md."""
    return "likely" if strength >= LIKELY_FROM else "possible" if strength >= POSSIBLE_FROM else "unlikely"


def doubt(comparison: Comparison) -> str:
    """Why the two files may not be builds of one program, "" where nothing says so."""
    return next((note for note in comparison.coverage.notes if "builds of one program" in note), "")


def names(comparison: Comparison) -> tuple[str, ...]:
    """Where the names of files without debug information are."""
    return tuple(note for note in comparison.coverage.notes if note.startswith(NAMES))


def unmatched(comparison: Comparison) -> str:
    """How much of either build is not known in the other, "" where that is little."""
    parts = []
    for summary, noun in ((comparison.variables, "variables"), (comparison.functions, "functions")):
        # What one build has more of came or went, and is listed as that.
        least = min(summary.old, summary.new)
        missing = least - summary.matched
        if missing * FEW > least:
            parts.append(f"{100 * missing / least:.0f} % of the {noun}")
    return f"not matched: {' and '.join(parts)}; what became of these is not told" if parts else ""


def matched(comparison: Comparison) -> str:
    """How much of both builds is known to be the same."""
    out = []
    for summary, noun in ((comparison.variables, "variable"), (comparison.functions, "function")):
        least = min(summary.old, summary.new)
        out.append(f"{summary.matched:,} of {count(least, noun)}")
    moved = comparison.coverage.counts.get("variables_moved", 0)
    runs = comparison.coverage.counts.get("runs_moved", 0)
    text = f"matched {' and '.join(out)}; {count(moved, 'variable')} moved"
    return f"{text} in {count(runs, 'contiguous range')}" if moved else text


def heading(comparison: Comparison) -> str:
    """The verdict in three words, the same in every format that has headings."""
    first = comparison.causes[0].kind if comparison.causes else CauseKind.NONE
    if first is CauseKind.NONE:
        return "no cause found"
    return "no likely cause" if verdict(comparison) else f"first suspect: {first.value}"


def slower(comparison: Comparison) -> str:
    """What measurements say of a loss, in words; "" where they show none."""
    if comparison.loss:
        return f"measured slower: {comparison.loss}"
    if not comparison.loss_seen:
        return ""
    runs = f"{comparison.runs_needed} runs of each build tell" if comparison.runs_needed else "more runs tell"
    once = all(one.repetitions == (1, 1) for one in comparison.measurements)
    return f"slower, but measured {'once' if once else 'too few times'}: {comparison.loss_seen}; {runs} it from chance"


def measured_first(comparison: Comparison) -> tuple[str, ...]:
    """The sentences on measurements that stand before all causes."""
    return tuple(text for text in (slower(comparison), comparison.by_level) if text)


def verdict(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """That nothing found is likely to make a program slower, and why; then what to do next: (sentence, command)."""
    if any(cause.kind is CauseKind.NONE or cause.strength >= POSSIBLE_FROM for cause in comparison.causes):
        return ()
    bare = any(not target.debug and not _is_listing(target) for target in comparison.targets)
    why = [unmatched(comparison).partition(";")[0]] if unmatched(comparison) else []
    why += ["no names: the files have no debug information"] if bare else []
    why += ["no code: listings have names and addresses alone"] if any(map(_is_listing, comparison.targets)) else []
    counts = comparison.coverage.counts
    seen = (
        f"in {counts.get(SAMPLES_OLD, 0):,} and {counts.get(SAMPLES_NEW, 0):,} samples no line of memory became dearer"
    )
    why += [seen if _sampled(comparison) else "no profile says where time goes"]
    reason = f" ({'; '.join(why)})" if why else ""
    loss = slower(comparison)
    out = [(f"{f'{loss}; nothing found here explains it' if loss else NOTHING_EXPLAINS}{reason}", "")]
    out += [(comparison.by_level, "")] if comparison.by_level else []
    if any(cause.kind is CauseKind.LAYOUT and not cause.improves for cause in comparison.causes):
        out.append(("memory layout: unlikely to be the cause, and not ruled out: what moved is below", ""))
    return tuple(out)


def following(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """What to do next where nothing found is likely: (sentence, command); nothing where something is."""
    if not verdict(comparison):
        return ()
    files = shlex.join(target.path for target in comparison.targets)
    bare = [not target.debug and not _is_listing(target) for target in comparison.targets]
    out = []
    if comparison.loss_seen and comparison.runs_needed:
        more = f"next: measure each build {comparison.runs_needed} times, in turns"
        out.append((f"{more} (repeat --bench-old and --bench-new)", ""))
    if any(map(_is_listing, comparison.targets)):
        out.append(("next, for code and types: linemate explain on the files that the listings are of", ""))
    asked = any(said in note for note in comparison.coverage.notes for said in (NO_ANSWER, NOTHING_THERE))
    names = debug_options(comparison) if asked else "--debuginfod"
    sentence = "next, for names"
    if asked:
        sentence += f", {_WHAT_FILE}" if " FILE" in names else ", with what the note below unpacks"
    named = f"{names} " if any(bare) and not (asked and "--debug-old" in comparison.given) else ""
    named += f"{shlex.join(comparison.given)} " if comparison.given else ""
    out += [(sentence, f"linemate explain {named}{files}")] if any(bare) else []
    if comparison.measurements and not any(word.startswith("--bench") for word in comparison.given):
        named += "--bench-old FILE --bench-new FILE "
    if not _sampled(comparison):
        kernel = any(target.kind.startswith("kernel") for target in comparison.targets)
        which = comparison.processes if len(comparison.processes) == len(comparison.targets) else ("PID", "PID")
        old, new = ("--duration 30" if kernel else f"--pid {one} --duration 30" for one in which)
        load = f"a load of {comparison.load}" if comparison.load else "a load"
        out += [
            (f"next, under {load}, while the old build runs", f"linemate record -o old.data {old}"),
            ("and while the new build runs", f"linemate record -o new.data {new}"),
            ("then", f"linemate explain {named}--samples-old old.data --samples-new new.data {files}"),
        ]
    return tuple(out)


def debug_options(comparison: Comparison) -> str:
    """What names the debug information of each build that has none: as the notes say, else FILE stands for it."""
    told = dict(_DEBUG_FILE.findall(" ".join(names(comparison))))
    sides = zip(("--debug-old", "--debug-new"), comparison.targets, strict=True)
    return " ".join(
        f"{option} {told.get(option, 'FILE')}"
        for option, target in sides
        if not target.debug and not _is_listing(target)
    )


def _is_listing(target: Target) -> bool:
    """Was this text in place of a file?  Servers know nothing of it, and it has all names that it can have."""
    return target.arch == NO_ARCHITECTURE


def _sampled(comparison: Comparison) -> bool:
    return bool(comparison.profile or comparison.places or comparison.coverage.counts.get(SAMPLES_NEW))


def glance(cause: Cause) -> str:
    """A cause on a line: kind, likelihood, and as much of its sentence as there is room for."""
    better = ", an improvement" if cause.improves else ""
    return f"{cause.kind.value} ({_likelihood(cause.strength)}, {cause.strength:.2f}{better}): {cause.summary}"


def pair(mates: LineMates) -> str:
    """``LOCK_open (mutex, bytes 0-19) and unused_tables (bytes 48-55), line 0x4600``."""
    sides = [
        f"{name} ({', '.join(part for part in (role, bytes_in_words((span,))) if part)})"
        for name, role, span in (
            (mates.first, mates.first_role, mates.first_bytes),
            (mates.second, mates.second_role, mates.second_bytes),
        )
    ]
    text = f"{' and '.join(sides)}, {mates.line_size} bytes at {mates.line}"
    if mates.finding:
        text += f": {mates.severity}, {mates.finding}"
    return text


def pairs_of(cause: Cause) -> list[tuple[str, tuple[LineMates, ...]]]:
    """The pairs that matter to a cause: those that met for a slowdown, those that parted for an improvement.

    Of either, those of which only the use changed stand for themselves.
    """
    lead, pairs = ("no longer", cause.lost_line_mates) if cause.improves else ("now on one line", cause.new_line_mates)
    each = ((lead, False), ("on one line in both builds", True))
    told = ((text, tuple(pair for pair in pairs if pair.stayed is stayed)) for text, stayed in each)
    return [(text, some) for text, some in told if some]


def pairs_in_all(comparison: Comparison, cause: Cause) -> int:
    """How many pairs came onto one line, or left it: a cause lists the worst."""
    return comparison.coverage.counts.get("line_mates_lost" if cause.improves else "line_mates_gained", 0)


def shown_pairs(more: int, listed: int, total: int) -> str:
    """``3 of 7,416 pairs shown, the worst``: of those that met, of which a document lists some alone."""
    return f"{listed - more} of {max(total, listed):,} pairs shown, the worst"


def contributions(parts: tuple[Contribution, ...]) -> str:
    """``+208 buf added (sys_vars.cc:64), +16 alignment padding``."""
    return named([contribution(part) for part in parts], CONTRIBUTIONS_SHOWN)


def contribution(part: Contribution) -> str:
    where = ", ".join(text for text in (part.source, "up to the next symbol" if part.inferred else "") if text)
    if part.share is Share.OTHERS and part.symbols:
        return f"{part.bytes:+,} {count(part.symbols, 'other symbol')}"
    return " ".join(
        text for text in (f"{part.bytes:+,}", part.name, part.share.value, f"({where})" if where else "") if text
    )


def signed_hex(value: int) -> str:
    return f"{'-' if value < 0 else '+'}{abs(value):#x}"


def moved_runs(comparison: Comparison) -> list[ShiftRun]:
    """Runs that moved, in the order of their addresses."""
    return [run for run in comparison.runs if run.shift or run.jump]


def number_of_runs(comparison: Comparison) -> int:
    """How many there are, listed or not."""
    return max(comparison.coverage.counts.get("runs_moved", 0), len(moved_runs(comparison)))


def run(run: ShiftRun) -> str:
    """One line: shift, place, variables, reason."""
    why = f": {contributions(run.contributions)}" if run.contributions else ""
    many = count(run.variables, "variable")
    return f"{signed_hex(run.shift):>8}  {run.section} {run.start}  {many}, {run_name(run)}{why}"


def run_name(run: ShiftRun) -> str:
    """The first and last variable of a run."""
    return run.first if run.variables == 1 else f"{run.first} .. {run.last}"


def change(changed: SymbolChange) -> str:
    """What happened to one variable, without its name."""
    if changed.detail:
        text = changed.detail
    elif changed.old_size and changed.new_size and changed.old_size != changed.new_size:
        text = f"{changed.old_size:,} to {changed.new_size:,} bytes"
    elif changed.old_section != changed.new_section and changed.old_section and changed.new_section:
        text = f"{changed.old_section} to {changed.new_section}"
    else:
        text = count(changed.new_size or changed.old_size, "byte")
    address = changed.new_address or changed.old_address
    return f"{text}, {changed.new_section or changed.old_section} {address}".strip()


def share(changed: ShareChange | SampledChange) -> str:
    """``4.68% to 5.22%, ×1.11 (1.07–1.16)``."""
    text = f"{100 * changed.old_share:.2f}% to {100 * changed.new_share:.2f}%"
    if not changed.old_share or not changed.new_share:
        return f"{text}, {'new' if changed.new_share else 'gone'}"
    if changed.ratio is None or changed.low is None or changed.high is None:
        return text
    return f"{text}, ×{changed.ratio:.2f} ({changed.low:.2f}–{changed.high:.2f})"


def measured(changed: MeasuredChange) -> str:
    """``-5.6% (-6.1% to -5.0%), medians 164650 and 155442``; whether that is more than chance."""
    text = "from nothing" if changed.change is None else f"{100 * changed.change:+.1f}%"
    if changed.low is not None and changed.high is not None:
        text += f" ({100 * changed.low:+.1f}% to {100 * changed.high:+.1f}%)"
    text += f", medians {changed.old:g} and {changed.new:g}"
    if changed.significant:
        return text
    if changed.needed:
        return f"{text}: too few repetitions to say; {changed.needed} a side are needed"
    if changed.p is None:
        return f"{text}: measured too few times to say"
    if changed.old == changed.new and changed.change == 0 and not changed.low and not changed.high:
        return f"{text}: the same"
    apart = changed.low is not None and changed.high is not None and not changed.low <= 0 <= changed.high
    return f"{text}: within chance{' among so many comparisons' if apart else ''}"


def conditions(changed: MeasuredChange) -> str:
    """The metric and the labels it was measured under."""
    under = ", ".join(f"{name} {text}" for name, text in changed.labels.items())
    return f"{changed.metric} ({under})" if under else changed.metric


def sensitive(item: Sensitivity) -> str:
    """What an insertion in front of a pair does to it."""
    now = "on one line" if item.now else "apart"
    other = ("could part" if item.now else "could join") if item.guessed else "parts" if item.now else "joins"
    then = f"; {item.next_shift} more bytes in front of them {other} them" if item.next_shift else ""
    return f"{now} as built; together at {item.together} of {item.possible} places in steps of {item.step} bytes{then}"
