# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands that can be pasted into a shell."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable

_PLAIN = frozenset(range(32, 127)) - set(b"\\'")


def join(words: Iterable[str]) -> str:
    """Quote words as shlex.join does, and names of files that are not UTF-8 as in $'road\\xff'."""
    return " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    try:
        word.encode()
    except UnicodeEncodeError:
        content = os.fsencode(word)
        return f"$'{''.join(chr(b) if b in _PLAIN else f'{chr(92)}x{b:02x}' for b in content)}'"
    return shlex.quote(word)
