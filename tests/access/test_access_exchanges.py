"""An exchange of which nobody asks what was there is a store: x86-64 stores in order so, and nothing is read."""

from __future__ import annotations

import pytest

from elfscan.image import read_images
from sharing.model.image import AccessKind, SiteFlag
from tests.access.conftest import Build

STORED = ("stored", "cleared", "in_loop")
READ = ("returned", "kept", "handed", "tested", "ended", "compared", "added")


@pytest.mark.parametrize("compiler", ["gcc-x86-64", "clang-x86-64"])
@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_what_an_exchange_finds_counts_as_read_only_where_something_asks(
    build: Build, compiler: str, level: str
) -> None:
    image = next(read_images(build(compiler, "rounds/exchanges.c", level, "-fno-inline"), types=False))
    named = {image.names[one["name"]]: int(one["address"]) for one in image.variables if one["name"] >= 0}
    kinds = {}
    for name in (*STORED, *READ):
        site = image.sites[image.sites["target"] == named[name]]
        assert (site["flags"] & SiteFlag.ATOMIC != 0).all()
        kinds[name] = {AccessKind(int(kind)) for kind in site["kind"]}
    if level != "-O0":  # where gcc takes a register in which calls are handed arguments
        assert {name: kinds[name] for name in STORED} == {name: {AccessKind.STORE} for name in STORED}
    assert {name: kinds[name] for name in READ} == {name: {AccessKind.RMW} for name in READ}
