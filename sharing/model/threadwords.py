"""Words of thread-local storage as holders of pointers, in rows of what code does behind these.

Owns their numbers.
"""

from __future__ import annotations

from sharing.model.image import WORD_ARG_BITS, WORD_HOLDER, WORD_NUMBER_BITS

# In the place of a function's row, in what stands for a word that an argument leads to: a word of thread-local storage,
# whose number is in the place of argument and word, counted from THREAD_WORDS / 2 words below the thread pointer.
THREAD_WORDS = 1 << (WORD_NUMBER_BITS + WORD_ARG_BITS)
THREAD_ROW = WORD_HOLDER // THREAD_WORDS - 1
FIRST_WORD = WORD_HOLDER + THREAD_ROW * THREAD_WORDS


def is_own_word(holder: int) -> bool:
    """Whether this is a word of thread-local storage."""
    return holder >= FIRST_WORD
