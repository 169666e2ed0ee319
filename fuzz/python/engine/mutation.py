"""Inputs made from other inputs by chance.  Owns the mutations; knows no coverage and no format.

The guided loop has libFuzzer's mutations.  These are for the short runs of the tests, for machines without atheris, and
for inputs that grow: a part repeated ten thousand times shows what takes time with the square of its length.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

INTERESTING = (0, 1, 2, 4, 7, 8, 16, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
INTERESTING_64 = (1 << 63, (1 << 63) - 1, (1 << 64) - 1, 1 << 32, 1 << 48)
TEXTS = (b"0", b"-1", b"1e999", b"nan", b"18446744073709551616", b"\xff", b"\0", b"\n", b'"', b"[", b"{", b"(", b"%s")
MAX_STEPS = 6


class Mutator:
    """A stream of inputs; equal seeds give equal streams."""

    def __init__(self, corpus: Sequence[bytes], words: Sequence[bytes], max_bytes: int, seed: int) -> None:
        self._corpus = list(corpus) or [b""]
        self._words = [*words, *TEXTS]
        self._max_bytes = max_bytes
        self._random = random.Random(seed)

    def next(self) -> bytes:
        data = bytearray(self._random.choice(self._corpus))
        for _ in range(self._random.randint(1, MAX_STEPS)):
            self._step(data)
        return bytes(data[: self._max_bytes])

    def grown(self, size: int) -> bytes:
        """A part of an input repeated up to a size, between what stood before and after it."""
        data = self._random.choice(self._corpus)
        low, high = sorted(self._random.randint(0, len(data)) for _ in range(2))
        if self._random.random() < 0.3 and data.count(b"\n") > 1:  # whole lines
            lines = data.splitlines(keepends=True)
            low = len(b"".join(lines[: self._random.randrange(len(lines))]))
            high = data.find(b"\n", low) + 1
        part = data[low:high] or self._random.choice(self._words)
        return data[:low] + part * max(1, size // len(part)) + data[high:]

    def _step(self, data: bytearray) -> None:
        chance = self._random
        at = chance.randint(0, len(data))
        match chance.randrange(9):
            case 0 if data:
                data[at % len(data)] ^= 1 << chance.randrange(8)
            case 1 if data:
                data[at % len(data)] = chance.randrange(256)
            case 2:
                size = chance.choice((1, 2, 4, 8))
                values = INTERESTING + INTERESTING_64 if size == 8 else INTERESTING
                value = chance.choice(values) & (1 << 8 * size) - 1
                data[at : at + size] = value.to_bytes(size, chance.choice(("little", "big")))
            case 3:
                del data[at : at + chance.randint(1, 1 + len(data) // 4)]
            case 4:
                del data[at:]
            case 5:
                data[at:at] = chance.choice(self._words)
            case 6:
                word = chance.choice(self._words)
                data[at : at + len(word)] = word
            case 7:
                data[at:at] = data[at : at + chance.randint(1, 64)] * chance.randint(1, 4)
            case _:
                other = chance.choice(self._corpus)
                data[at:] = other[chance.randint(0, len(other)) :]
