"""What an edit adds to a program is what its report says."""

from __future__ import annotations

import msgspec
import pytest

from sharing.fix.edits import attach_edits
from tests.fix.program import LONG, ProgramBuilder, array, finding, read


@pytest.mark.parametrize(("member", "told", "grows"), [("state", "behind", 64), ("clock", "on both sides of", 128)])
def test_what_padding_takes_is_what_is_said(builder: ProgramBuilder, member: str, told: str, grows: int) -> None:
    """The remedy reckons with alignment, by which a record of two lines may not grow at all."""
    text = "struct job {\n  long state;\n  long clock;\n  long name[30];\n};\nstruct job *job;\n"
    unit = builder.unit(builder.file("job.c", text))
    members = (("long state", "state", LONG), ("long clock", "clock", LONG), ("long name[30]", "name", array(LONG, 30)))
    unit.allocation(unit.record(text[: text.index("};") + 1], "job", members))
    wanted = finding("key-job", kind="align-member", member=member)
    free = msgspec.structs.replace(wanted.remedies[0], cost_bytes=0, objects=0, each_bytes=0)
    (remedy,) = attach_edits(msgspec.structs.replace(wanted, remedies=(free,)), builder.program(), read).remedies
    assert remedy.text.endswith(f"put a line of unnamed bits {told} {member}")
    assert (remedy.cost_bytes, remedy.each_bytes, remedy.objects) == (grows, grows, 0)
