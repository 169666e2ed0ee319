"""Bytes of a participant are offsets in the line of the finding, also where a window was judged."""

from __future__ import annotations

from tests.sharing.test_sharing_judge import crowd, judged


def test_offsets_count_from_the_line_that_is_reported() -> None:
    findings = judged(crowd(), "safe-by-luck").findings
    assert findings
    for finding in findings:
        line = int(finding.line.address, 16)
        for participant in finding.participants:
            assert line + participant.bytes[0][0] == max(int(participant.address, 16), line)
