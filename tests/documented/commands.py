"""The shell commands of a Markdown page, block by block, and what the page says of them.

Owns the convention: a fence of ``sh`` is a script; in one of ``console`` the lines behind ``$ `` are, and what follows
them is output.  The rest of the info string are notes to whoever runs the block: ``exit=3`` is what its last command
of linemate returns, ``synopsis`` says that the block names arguments and is none to run.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

SHELL = ("sh", "console")
_FENCE = re.compile(r"^ *```(.*)$")
_INLINE = re.compile(r"(?<!`)`(linemate [^`\n]+)`(?!`)")
_CALL = re.compile(r"^\s*(?:scripts/)?linemate\s")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its page and the line of its fence, the language, the notes behind it, and its lines."""

    page: str
    line: int
    language: str
    notes: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def script(self) -> tuple[str, ...]:
        """The commands, with continued lines joined."""
        if self.language not in SHELL:
            return ()
        commands: list[str] = []
        continues = False
        for line in self.lines:
            if continues:
                commands[-1] += "\n" + line
            elif self.language == "sh":
                commands.append(line)
            elif line.startswith("$ "):
                commands.append(line[2:])
            else:
                continue
            continues = line.endswith("\\")
        return tuple(command for command in commands if command.strip())

    @property
    def calls(self) -> tuple[str, ...]:
        """Those of the commands that are linemate's."""
        return tuple(command for command in self.script if _CALL.match(command))

    @property
    def expected(self) -> int | None:
        """The exit code that the page says of the last command; None where it says none."""
        return next((int(note.removeprefix("exit=")) for note in self.notes if note.startswith("exit=")), None)


def blocks_of(path: Path, root: Path) -> list[Block]:
    """Every fenced block of a page."""
    page = str(path.relative_to(root))
    found: list[Block] = []
    opened: tuple[int, list[str]] | None = None
    inside: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if fence is None:
            inside.append(line)
        elif opened is None:
            opened, inside = (number, fence[1].split()), []
        else:
            start, words = opened
            found.append(Block(page, start, words[0] if words else "", tuple(words[1:]), tuple(inside)))
            opened = None
    return found


def outside_of_shell(path: Path, root: Path) -> list[str]:
    """Lines that begin like a command of linemate's and stand in no shell block."""
    lines = path.read_text(encoding="utf-8").splitlines()
    looks = re.compile(r"^(?: {4,}|\$ )(?:\$ )?(?:scripts/)?linemate [a-z]+ ")
    shell = [block for block in blocks_of(path, root) if block.language in SHELL]
    covered = {at for block in shell for at in range(block.line, block.line + len(block.lines) + 2)}
    found = [line for at, line in enumerate(lines, 1) if at not in covered and looks.match(line)]
    other = [line for block in blocks_of(path, root) if block.language == "" for line in block.lines]
    return found + [line for line in other if re.match(r"(?:scripts/)?linemate [a-z]+ [^ ]", line)]


def words_of(command: str) -> list[str]:
    """The arguments behind ``linemate``, up to where the shell goes on with something else."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    ends = next((at for at, word in enumerate(words) if word in ("||", "&&", ";", "|", ">")), len(words))
    return words[1:ends]


def inline_calls(path: Path) -> list[str]:
    """Commands that a sentence names, without the quotes."""
    return _INLINE.findall(path.read_text(encoding="utf-8"))
