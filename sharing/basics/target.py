"""What a report says that it is about.  Owns the step from an image to its line in a report."""

from __future__ import annotations

from sharing.model.finding import Target
from sharing.model.image import Image


def target_of(image: Image, line_size: int) -> Target:
    """The image as reports name it; ``line_size`` is what it was judged with."""
    return Target(
        path=image.path,
        member=image.member or "",
        arch=image.arch.name,
        kind=image.kind.value,
        build_id=image.build_id or "",
        line_size=line_size,
        debug=image.debug_source,
    )
