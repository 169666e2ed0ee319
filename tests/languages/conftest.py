"""What the tests of languages share: the findings of one program, as a user sees them."""

from __future__ import annotations

from pathlib import Path

from elfscan.debug.demangle import demangle
from elfscan.image import read_images
from sharing.judge.static import JudgeOptions, judge
from sharing.knowledge import default_knowledge
from sharing.model.finding import Finding, Severity


def audited(program: Path) -> list[Finding]:
    """The findings that are more than notes, worst first."""
    image = next(read_images(str(program)))
    found = judge(image, JudgeOptions(64, 128, demangle=demangle), default_knowledge()).findings
    return [f for f in found if f.severity.rank >= Severity.LOW.rank]
