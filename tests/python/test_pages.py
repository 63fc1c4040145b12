# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The code of the pages: Python and commands name what exists; the rest is built elsewhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from warpheap.cli import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "bench/README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Without the directives of the site, which Sphinx checks.
BLOCK = re.compile(r"^```(?!\{)(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^```\{.*?^```$", re.MULTILINE | re.DOTALL)
# Whose tests build the programs of pages (tests/docs/extract.py).
BUILDERS = ("tests/docs/CMakeLists.txt", "tests/drop_in/CMakeLists.txt")
# Code of other projects, which is shown and not ours to compile, and drawings.
SHOWN = {"c++", "text"}


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    yield from BLOCK.findall(DIRECTIVE.sub("", page.read_text(encoding="utf-8")))


def code(language: str) -> list[Any]:
    """The blocks of a language, each a parameter of a test that is named after its page."""
    found = [
        pytest.param(text, id=f"{page.relative_to(ROOT)}-{number}")
        for page in PAGES
        for number, (of, text) in enumerate(blocks(page))
        if of == language
    ]
    assert found, f"no page has a block of '{language}'"
    return found


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    builders = "".join((ROOT / name).read_text(encoding="utf-8") for name in BUILDERS)
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        for language, text in blocks(page):
            if language in ("c", "cpp", "cmake"):
                assert re.search(rf"(^|[ /]){re.escape(name)}\b", builders, re.MULTILINE), name
            else:
                assert language in SHOWN | {"python", "sh"}, f"{name}: '{language}': {text}"


def dotted(node: ast.expr) -> str:
    """``a.b.c`` of an expression that is made of names; empty for another one."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


def resolve(name: str) -> Any:
    """What a dotted name of the package stands for."""
    words = name.split(".")
    found: Any = importlib.import_module(words[0])
    for i, word in enumerate(words[1:], start=2):
        if not hasattr(found, word):
            importlib.import_module(".".join(words[:i]))
        found = getattr(found, word)
    return found


@pytest.mark.parametrize("text", code("python"))
def test_python_names_what_there_is_and_calls_it_right(text: str) -> None:
    checked = 0
    made: dict[str, Any] = {}  # variables, and the class of which they are
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            for module in node.names:
                importlib.import_module(module.name)
                checked += 1
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        name = dotted(node.value.func)
        if name.startswith("warpheap.") and isinstance(node.targets[0], ast.Name):
            called = resolve(name)
            if inspect.isclass(called):
                made[node.targets[0].id] = called
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            of = made.get(node.value.id)
            if of is not None and not hasattr(of, node.attr):
                assert re.search(rf"self\.{node.attr}\b[^=\n]* = ", inspect.getsource(of)), (
                    node.attr
                )
        if isinstance(node, ast.Call) and dotted(node.func).startswith("warpheap."):
            arguments = [None for _ in node.args]
            words = {word.arg: None for word in node.keywords if word.arg}
            inspect.signature(resolve(dotted(node.func))).bind(*arguments, **words)
            checked += 1
    assert checked, "nothing of the package is in it"


def commands() -> list[Any]:
    """The calls of the tool in blocks of the shell, and in lines that are indented as code."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shell = "".join(block for language, block in blocks(page) if language == "sh")
        shell += "".join(re.findall(r"^    (.*\n)", text, re.MULTILINE))
        for line in shell.replace("\\\n", " ").splitlines():
            call = re.match(r"(?:\./dev )?warpheap (?!-)(.*)", line)
            if call:
                words = shlex.split(call.group(1), comments=True)
                found.append(pytest.param(words, id=f"{page.relative_to(ROOT)}-{' '.join(words)}"))
    assert found
    return found


@pytest.mark.parametrize("words", commands())
def test_commands_have_the_options_of_the_pages(words: list[str]) -> None:
    tool: Any = typer.main.get_command(app)
    try:
        tool.commands[words[0]].make_context(words[0], words[1:])
    except Exception as error:
        # By its name, as not every Typer uses the package Click. The files of an example are not
        # here, which is another error.
        assert type(error).__name__ == "BadParameter", error


def map_rows() -> Iterator[tuple[list[str], list[str]]]:
    """Of each row of CONTRIBUTING's map, its folders, and the names of what is in them."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text.split("## Where things are", 1)[1].split("\n## ", 1)[0]
    base = ""
    for line in text.splitlines():
        if place := re.search(r"in `(include/[^`]+)`", line):
            base = place[1]
        elif line.startswith("Outside"):
            base = ""
        cells = line.split("|")
        if len(cells) == 4 and not cells[1].startswith(("-", " folder")):
            names = re.findall(r"`([^`]+)`", cells[2])
            yield [base + folder for folder in re.findall(r"`([^`]+)`", cells[1]) or [""]], names


def test_the_table_of_counters_names_what_there_is() -> None:
    base = ROOT / "include/warpheap"
    table = re.findall(
        r"^\| (`.*?) \|", (ROOT / "docs/counters.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(table) > 15
    named = [name for cell in table for name in re.findall(r"`([^`]+)`", cell)]
    places = ("", "managers", "heap/layers")
    assert [n for n in named if not any((base / place / n).exists() for place in places)] == []


def test_the_map_of_contributing_names_what_there_is() -> None:
    rows = list(map_rows())
    assert len(rows) > 20
    missing = []
    for folders, names in rows:
        places = [ROOT / folder for folder in folders]
        missing += [str(place) for place in places if not place.exists()]
        there = {Path(folder).stem for folder in folders}
        for place in places:
            for path in place.rglob("*"):
                there |= {path.stem, path.name}
        # Capitals stand for any name, and a word with a blank is a command.
        told = [Path(name).name for name in names if not re.search(r"[A-Z ]", name)]
        missing += [f"{folders}: {name}" for name in told if name not in there]
    assert missing == []


def test_the_map_of_contributing_names_each_part_of_a_manager_that_has_a_row() -> None:
    listed = {ROOT / folder for folders, _ in map_rows() for folder in folders}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    text = text.split("## Where things are", 1)[1].split("\n## ", 1)[0]
    named = {Path(name).name for name in re.findall(r"`([^`]+)`", text)}
    headers = list((ROOT / "include/warpheap/managers").glob("*/*.hpp"))
    parts = [h for h in headers if h.stem != h.parent.name and h.parent in listed]
    assert len(parts) > 80
    unnamed = [f"{part.parent.name}/{part.stem}" for part in parts if part.stem not in named]
    assert unnamed == []
