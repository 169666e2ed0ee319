"""``python -m elfscan FILE``: print what was read, so that bug reports arrive with evidence.

Owns plain text tables of an ``Image``; hostile names are escaped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np

from elfscan.image import read_images
from sharing.model import AccessKind, FunctionFlag, Image, LinemateError, SiteFlag, VariableFlag


def main(arguments: list[str] | None = None) -> int:
    """Run the dumper.  Returns the exit code: 0, or 2 when a file cannot be read."""
    options = _parser().parse_args(arguments)
    wants_sites = options.sites is not None
    try:
        for image in read_images(
            options.file, debug_file=options.debug_file, types=options.types, access=options.access or wants_sites
        ):
            print("\n".join(_summary(image)))
            if options.sections:
                print("\n".join(_sections(image)))
            if options.variables or options.symbols:
                print("\n".join(_variables(image)))
            if options.functions or options.symbols:
                print("\n".join(_functions(image)))
            if wants_sites:
                print("\n".join(_sites(image, options.sites)))
    except LinemateError as error:
        print(f"elfscan: {printable(str(error))}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m elfscan", description="Show what linemate reads from a binary.")
    parser.add_argument("file", metavar="FILE", help="an ELF file or an archive of them")
    parser.add_argument("--sections", action="store_true", help="allocated sections and who may write them")
    parser.add_argument("--variables", action="store_true", help="variables by address")
    parser.add_argument("--functions", action="store_true", help="functions by address")
    parser.add_argument("--symbols", action="store_true", help="variables and functions")
    parser.add_argument("--sites", metavar="SYMBOL", help="the instructions that touch one variable")
    parser.add_argument("--access", action="store_true", help="scan instructions even where no sites are shown")
    parser.add_argument("--no-types", dest="types", action="store_false", help="do not read debug information")
    parser.add_argument("--debug-file", metavar="FILE", help="where the debug information is")
    return parser


def printable(text: str) -> str:
    """Text with control characters and other unprintable ones escaped: a name must not drive a terminal."""
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def describe(image: Image) -> Iterator[str]:
    """Everything of an image but its sites, a fact a line."""
    for part in (_summary, _sections, _variables, _functions):
        yield from part(image)


def _summary(image: Image) -> Iterator[str]:
    member = f"({image.member})" if image.member else ""
    yield printable(f"{image.path}{member}: {image.kind} for {image.arch.name}, {image.arch.bits} bits")
    yield f"  build-id {image.build_id or 'none'}; debug information: {printable(image.debug_source) or 'none'}"
    yield "  " + ", ".join(f"{name} {value}" for name, value in sorted(image.counts.items()))
    for note in image.notes:
        yield f"  note: {printable(note)}"


def _sections(image: Image) -> Iterator[str]:
    for s in image.sections:
        yield f"  {s.address:#018x} {s.size:#10x} {s.alignment:>5} {s.kind.value:26} {printable(s.name)}"


def _flags(names: type[VariableFlag] | type[FunctionFlag] | type[SiteFlag], value: int) -> str:
    return ",".join(str(flag.name).lower() for flag in names if value & flag)


def _variables(image: Image) -> Iterator[str]:
    for row, variable in enumerate(image.variables):
        name = image.names[variable["name"]] if variable["name"] >= 0 else "?"
        section = image.sections[variable["section"]].name
        kind = image.types.name(int(variable["type"])) if variable["type"] >= 0 else ""
        where = f"{image.files[variable['file']]}:{variable['line']}" if variable["file"] >= 0 else ""
        scope = f" in {image.names[variable['scope']]}" if variable["scope"] >= 0 else ""
        more = f" = {', '.join(image.aliases[row])}" if row in image.aliases else ""
        yield printable(
            f"  {variable['address']:#018x} {variable['size']:>8} {section:16} {name}{more}{scope}"
            f" [{_flags(VariableFlag, int(variable['flags']))}] {kind} {where}".rstrip()
        )


def _functions(image: Image) -> Iterator[str]:
    for function in image.functions:
        name = image.names[function["name"]] if function["name"] >= 0 else "?"
        flags = _flags(FunctionFlag, int(function["flags"]))
        yield printable(f"  {function['address']:#018x} {function['size']:>8} {name} [{flags}]")


def _sites(image: Image, symbol: str) -> Iterator[str]:
    rows = [
        row
        for row, name in enumerate(image.variables["name"].tolist())
        if name >= 0 and (image.names[name] == symbol or symbol in image.aliases.get(row, ()))
    ]
    if not rows:
        raise LinemateError(f"{image.path}: no variable {symbol}")
    for row in rows:
        start, size = int(image.variables["address"][row]), int(image.variables["size"][row])
        target = image.sites["target"]
        for site in image.sites[(target >= np.uint64(start)) & (target < np.uint64(start + size))]:
            function = image.functions[site["function"]] if site["function"] >= 0 else None
            name = image.names[function["name"]] if function is not None and function["name"] >= 0 else "?"
            kind = AccessKind(int(site["kind"])).name.lower()
            yield printable(
                f"  {site['ip']:#x} {kind} {symbol}+{int(site['target']) - start} size {site['size']}"
                f" loop {site['loop_depth']} in {name} [{_flags(SiteFlag, int(site['flags']))}]"
            )


if __name__ == "__main__":
    sys.exit(main())
