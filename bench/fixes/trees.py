"""A revision of a project as files that parse, without its build.

Owns what is taken out of a clone, the configuration header that the project's build would write, and the folders of
headers.  Nothing of the project is run.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

from bench.clones import git
from bench.fixes.fixes import Recipe
from bench.measure import Unavailable

_HEADERS = (".h", ".hpp", ".hh", ".inc")
_SETTING = re.compile(r"CONFIG_(\w+)=(\S+)")
_LEFT = re.compile(r"@\w+@")


def extract(clone: Path, revision: str, paths: tuple[str, ...], into: Path) -> None:
    """The files of a revision below ``into``; of ``paths`` those that this revision has."""
    listed = git(clone, "ls-tree", "--name-only", revision, "--", *paths).decode().split()
    if not listed:
        raise Unavailable(f"{clone}: {revision[:10]} has none of {', '.join(paths)}")
    into.mkdir(parents=True, exist_ok=True)
    # Attributes of the tree are not read: git would look at every file of it for them, and a clone may lack some.
    archive = git(clone, "archive", "--worktree-attributes", "--format=tar", revision, "--", *listed, ":(exclude)*.o")
    # GNU tar writes nothing outside of the folder, whatever the archive names.
    subprocess.run(["tar", "-x", "-C", str(into)], input=archive, check=True)


def units_of(tree: Path, units: tuple[str, ...]) -> tuple[str, ...]:
    """The units below ``tree`` that are named, or match a pattern; none that matches one after ``!``."""
    without = tuple(one[1:] for one in units if one.startswith("!"))
    found: dict[str, None] = {}
    for unit in units:
        if unit.startswith("!"):
            continue
        matching = sorted(str(file.relative_to(tree)) for file in tree.glob(unit)) if "*" in unit else [unit]
        found.update(dict.fromkeys(one for one in matching if not any(fnmatch(one, other) for other in without)))
    return tuple(found)


def flags(recipe: Recipe, tree: Path) -> list[str]:
    """The flags with which units of an extracted tree parse; writes the headers that the build would have made."""
    made = tree / "generated-headers"
    texts = {name: _filled(tree / file, recipe.words) for name, file in recipe.templates.items()}
    for name, text in {**texts, **recipe.writes}.items():
        file = made / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if recipe.settings:
        made.mkdir(exist_ok=True)
        (made / "rte_config.h").write_text(_defines(tree, recipe.settings), encoding="utf-8")
    folders = [made, *(tree / one for one in recipe.includes)]
    for top in recipe.headers:
        for folder, below, files in os.walk(tree / top):
            below[:] = sorted(name for name in below if name not in recipe.not_folders)
            if any(file.endswith(_HEADERS) for file in files):
                folders.append(Path(folder))
    return [*(word.replace("@", str(tree)) for word in recipe.flags), *(f"-I{folder}" for folder in folders)]


def _filled(file: Path, words: Mapping[str, str]) -> str:
    """A header as a build makes it; nothing of a file that this revision does not have."""
    text = file.read_text(encoding="utf-8", errors="replace") if file.exists() else ""
    for word, value in words.items():
        text = text.replace(word, value)
    return _LEFT.sub("0", text)


def _defines(tree: Path, files: tuple[str, ...]) -> str:
    text = "\n".join((tree / file).read_text(errors="replace") for file in files if (tree / file).exists())
    lines = []
    for name, value in _SETTING.findall(text):
        if value != "n":
            lines += [f"#undef {name}", f"#define {name} {'1' if value == 'y' else value}"]
    return "\n".join(lines) + "\n"
