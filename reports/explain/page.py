"""The comparison as one HTML page that needs nothing else; what it says, it says without scripts.

Owns what the template gets; the template owns the looks.  Jinja2 escapes every value, and names have passed
``visible`` before.
"""

from __future__ import annotations

from typing import Any

from reports.escape import name_list, names_cut, sentence, visible
from reports.explain import wording
from reports.explain.layouts import pair_pictures, section_pictures
from reports.htmltemplate import render_page
from reports.options import RenderOptions
from reports.page import NAME_WIDTH
from reports.wording import target_name, target_text
from sharing.model.comparison import Cause, Comparison
from sharing.model.linkage import is_table_of_class

NAMES_SHOWN = 8
CHANGES_SHOWN = 400  # a page has room for what a terminal has not
RUNS_SHOWN = 200
OPEN = 20  # rows of a table; a longer one is folded


def render(comparison: Comparison, options: RenderOptions) -> str:
    """The page.  Without ``options.summary`` the causes only."""
    counts = comparison.coverage.counts
    runs = wording.moved_runs(comparison)[:RUNS_SHOWN]
    told = [text for text, _ in wording.verdict(comparison)] or list(wording.measured_first(comparison))
    told = [*filter(None, (wording.doubt(comparison),)), *told]
    return render_page(
        "explain.html.j2",
        ("look.css", "explain.css"),
        ("base.js", "explain.js"),
        {},
        title=wording.heading(comparison),
        targets=[(visible(target_name(t)), visible(target_text(t))) for t in comparison.targets],
        matched=wording.matched(comparison),
        told=[visible(text) for text in told],
        following=[(visible(text), visible(command)) for text, command in wording.following(comparison)],
        measured=[(visible(wording.conditions(m)), wording.measured(m)) for m in comparison.measurements],
        notes=[visible(note) for note in comparison.coverage.notes],
        incomplete=comparison.incomplete,
        causes=[_cause(comparison, cause) for cause in comparison.causes],
        ruled_out=[(r.kind.value, visible(r.why)) for r in comparison.ruled_out]
        + [(f"{r.kind.value} not", visible(r.why)) for r in comparison.not_ruled_out],
        sections=[(visible(section), picture) for section, picture in section_pictures(comparison)],
        tables=[{"long": len(table["rows"]) > OPEN, **table} for table in _tables(comparison) if table["rows"]],
        runs=[
            (
                visible(run.section),
                f"{wording.signed_hex(run.shift)}",
                f"{run.variables:,}",
                visible(wording.run_name(run)),
                visible(wording.contributions(run.contributions)),
            )
            for run in runs
        ],
        long_runs=len(runs) > OPEN,
        more_runs=wording.number_of_runs(comparison) - len(runs),
        more_changes=counts.get("changes", 0) - min(len(comparison.changes), CHANGES_SHOWN),
        version=options.version,
        summary=options.summary,
    )


def _cause(comparison: Comparison, cause: Cause) -> dict[str, Any]:
    return {
        "kind": cause.kind.value,
        "title": wording.title(cause),
        "summary": visible(sentence(cause.summary)),
        "improves": cause.improves,
        "pairs": [
            (lead, visible(wording.pair(mates)), name_list(mates.functions, NAMES_SHOWN, NAME_WIDTH, mates.users))
            for lead, pairs in wording.pairs_of(cause)
            for mates in pairs
        ],
        "pairs_in_all": wording.pairs_in_all(comparison, cause),
        "pictures": list(pair_pictures(comparison, cause)),
        "moved": [(visible(m.name), m.old, m.new, m.shift) for m in cause.moved],
        "in_full": [visible(name) for name in names_cut(cause.summary)],
        "evidence": [visible(text) for text in cause.evidence],
        "checks": [
            (lead, [visible(step) for step in steps])
            for lead, steps in (("confirm", cause.confirm), ("refute", cause.refute))
            if steps
        ],
    }


def _tables(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "title": "Functions whose share of samples changed by more than chance",
            "rows": [(visible(f.function), visible(f.event), wording.share(f), f.kind) for f in comparison.profile],
        },
        {
            "title": "Variables and lines whose share of samples changed by more than chance",
            "rows": [(p.kind.value, visible(p.name), visible(p.event), wording.share(p)) for p in comparison.places],
        },
        {
            "title": "What an insertion elsewhere would do to the busiest pairs of the new build",
            "rows": [(visible(s.first), visible(s.second), wording.sensitive(s)) for s in comparison.sensitivity],
        },
        _changed("Variables that changed", comparison, tables=False),
        _changed("Virtual tables and type information of classes that changed", comparison, tables=True),
    ]


def _changed(title: str, comparison: Comparison, *, tables: bool) -> dict[str, Any]:
    """Those that are tables of classes, which compilers make, or all others; many are folded."""
    rows = [
        (c.kind.value, visible(c.name), visible(wording.change(c)), visible(c.source))
        for c in comparison.changes[:CHANGES_SHOWN]
        if is_table_of_class(c.name) == tables
    ]
    return {"title": title, "rows": rows, "long": tables or len(rows) > OPEN}
