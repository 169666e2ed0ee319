"""The table of commits: which repaired what, and what is needed to read them."""

from __future__ import annotations

from pathlib import Path

import msgspec

TABLE = Path(__file__).with_name("commits.json")


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How units of a project's era parse.

    ``paths`` are taken out of the tree, beside the folders of the units; ``headers`` are folders whose subfolders with
    headers are searched, less ``not_folders``, which hold another machine's; ``includes`` are searched as they are,
    before them.  ``settings`` are files of lines CONFIG_NAME=value, of which rte_config.h is written; ``templates`` are
    headers that a build makes of a file of the tree, in which ``words`` are replaced (other words between @ by 0);
    ``writes`` are other headers that a build would write; ``needs`` names trees whose headers are included, by recipe:
    OWNER/NAME@REVISION.
    """

    paths: tuple[str, ...]
    headers: tuple[str, ...] = ()
    not_folders: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    templates: dict[str, str] = {}  # by the header that is made
    words: dict[str, str] = {}
    writes: dict[str, str] = {}
    needs: dict[str, str] = {}
    packages: tuple[str, ...] = ()  # of Debian, whose headers are included


class Fix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One commit, the names of the data that it separated, and the units in which that data is seen.

    A unit with ``*`` is all files of that pattern; those of a pattern after ``!`` are left out.
    A finding that names one of ``names`` (variables, records or members) is about the repair; where it separated these
    from each other (``together``), one that names all of them.  Where other bytes of the same records share lines as
    well, of one of ``rules`` alone, and none that names one of ``others``.
    """

    name: str
    project: str
    commit: str
    recipe: str
    kind: str  # the class of the repair
    units: tuple[str, ...]
    names: tuple[str, ...]
    what: str  # what shared a line
    together: bool = False
    rules: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    units_before: tuple[str, ...] = ()  # where the parent has other files
    first: str = (
        ""  # of one chosen before it was ever judged, what came out then: missed, flagged, or clean after it as well
    )
    batch: int = 1  # those of one batch were chosen and judged for the first time together
    shares: bool = True  # False: nothing of several threads is on one line before it, whatever the message speaks of
    line_size: int = 0  # bytes of a line, where the repair is about others than the architecture's: of pairs of lines
    true_sharing: bool = False  # the threads change the repaired data itself: a note is what there is to say
    separates: bool = True  # False: nothing that source can show (true sharing, fewer lines each, right before it)
    lost: str = ""  # why it is not flagged before, or not clean after: the step that loses it


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the file holds."""

    recipes: dict[str, Recipe]
    commits: tuple[Fix, ...]
    remarks: dict[str, str] = {}  # on the first judgement of a batch, by its number


def read() -> Table:
    """The table as it is kept."""
    return msgspec.json.decode(TABLE.read_bytes(), type=Table)
