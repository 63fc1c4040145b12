# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the comments ``///`` of a header say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

TYPE = re.compile(r"(?:template|class|struct|enum) ?\b")
SENTENCE = re.compile(r".*?[^. ]{2}\.(?= [A-Z]|$)")


def layouts(header: Path) -> Iterator[tuple[str, str]]:
    """(caption, drawing) of each layout that the header's comments draw."""
    lines = [line.removeprefix("///") for line in header.read_text().splitlines()]
    for number, line in enumerate(lines):
        if not re.fullmatch(r" .*[Ll]ayout.*:", line):
            continue
        drawing = []
        for below in lines[number + 1 :]:
            if below and not below.startswith("     "):
                break
            drawing.append(below.removeprefix("     "))
        text = "\n".join(drawing).strip("\n")
        if text:
            yield line.strip().removesuffix(":"), text


def paragraph(header: Path, begin: str) -> str:
    """The paragraph of the header's comments that begins so; or nothing."""
    lines = [line.removeprefix("///").strip() for line in header.read_text().splitlines()]
    for number, line in enumerate(lines):
        if line.startswith(begin):
            rest = lines[number:]
            end = next((i for i, below in enumerate(rest) if not below), len(rest))
            return " ".join(rest[:end])
    return ""


def comments(header: Path) -> Iterator[tuple[list[str], str]]:
    """Each comment ``///`` of the header outside of types, and the line that follows it."""
    comment: list[str] = []
    for line in header.read_text().splitlines():
        if line.startswith("///"):
            comment.append(line.removeprefix("///").strip())
        elif comment:
            yield comment, line
            comment = []


def purpose(header: Path) -> str:
    """What the header says that it is for, in a sentence; empty if it says nothing."""
    found = list(comments(header))
    of_file = [text for text, _ in found if text[0].startswith("\\file")]
    of_type = [text for text, line in found if TYPE.match(line)]
    text = next(iter(of_file or of_type), [])
    if of_file:
        text = [*filter(None, [text[0].removeprefix("\\file").strip()]), *text[1:]]
    end = next((i for i, line in enumerate(text) if not line or line.startswith("\\")), len(text))
    said = " ".join(text[:end])
    sentence = SENTENCE.match(said)
    return sentence[0] if sentence else said.removesuffix(":") + "." if said else ""
