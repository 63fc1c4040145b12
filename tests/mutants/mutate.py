#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write the sources of mutants: copies of headers, each with one mistake, each in a namespace.

The table is in the files mutants.toml of the folders of tests/, each beside the tests of what it
breaks. A *profile* names headers, in the order in which they include each other, the type that
comes out of them and is explored as `subject`, the cases that it is explored in, and the headers
that define those; `sources`, if any, are translation units of tests/ that define the rest of those
cases. What a profile does not say is as in the one of the same file that it names with `like`. Its
headers are those that its cases reach: mistakes in others would meet nothing. A mutant copies the
header that it changes and those that include it; all mutants share what is compiled of the others.
A profile with `whole = true` copies all of them: its headers have functions that a call finds by
the types of its arguments, too, where a copy of the function would be a second one. A profile with
`generated = true` has no mutant in the table; it is for those that the campaign makes. A *mutant*
names its profile, a text that stands in exactly one place of those headers, and what to put there
instead. A text that is missing or ambiguous is an error, so that a mutant cannot rot. For one that
takes seconds to find, `met` names the CASE/STRATEGY/MEMORY/SEED where it was found: the schedules
from that one on are explored first, and all others if the code has changed since so that they meet
it no more. Mistakes that a program makes by itself are those of faults.py.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

BEGIN = "WARPHEAP_BEGIN_NAMESPACE\n"
END = "WARPHEAP_END_NAMESPACE"
NAME = re.compile(r"[a-z][a-z0-9_]*")
MET = re.compile(r"\w+/\w+/\w+/\d{1,18}")
# The keys of a table's entry, each with the type of its value: those that it must have, and others.
Keys = tuple[dict[str, type], dict[str, type]]
PROFILE: Keys = (
    {"original": str, "headers": list, "setups": list, "type": str, "cases": str},
    {"like": str, "sources": list, "generated": bool, "whole": bool},
)
MUTANT: Keys = (
    {"name": str, "profile": str, "about": str, "find": str, "replace": str},
    {"met": str},
)


class TableError(Exception):
    """A mistake in the table, or a table that does not fit the headers any more."""


def read_table(*paths: Path) -> dict[str, Any]:
    """Read the parts of the table, and check the whole."""
    table: dict[str, Any] = {"profile": {}, "mutant": []}
    for path in paths:
        try:
            part = tomllib.loads(path.read_text())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise TableError(f"{path}: {error}") from error
        complete_profiles(path, part)
        check_part(path, part)
        for name in part.get("profile", {}).keys() & table["profile"].keys():
            raise TableError(f"{path}: profile '{name}' is there twice")
        table["profile"] |= part.get("profile", {})
        table["mutant"] += [{**mutant, "file": path} for mutant in part.get("mutant", [])]
    seen: set[str] = set()
    for mutant in table["mutant"]:
        name = mutant["name"]
        where = f"{mutant['file']}: mutant '{name}'"
        if not NAME.fullmatch(name):
            raise TableError(f"{where}: a name is lower-case letters, digits and _")
        if name in seen:
            raise TableError(f"{where} is there twice")
        if mutant["profile"] not in table["profile"]:
            raise TableError(f"{where}: no profile is called '{mutant['profile']}'")
        seen.add(name)
    unused = {name for name, how in table["profile"].items() if not how.get("generated")}
    unused -= {mutant["profile"] for mutant in table["mutant"]}
    if unused:
        raise TableError(f"profiles without a mutant: {', '.join(sorted(unused))}")
    return table


def complete_profiles(path: Path, part: dict[str, Any]) -> None:
    """Complete profiles that are like an earlier one of their file from that one."""
    profiles = part.get("profile")
    if not isinstance(profiles, dict):
        return
    earlier: dict[str, Any] = {}
    for name, how in profiles.items():
        if isinstance(how, dict) and "like" in how:
            other = how.pop("like")
            if not isinstance(other, str) or not isinstance(earlier.get(other), dict):
                raise TableError(f"{path}: profile '{name}' is like '{other}', not one before it")
            profiles[name] = how = {**earlier[other], **how}
        earlier[name] = how


def check_part(path: Path, part: dict[str, Any]) -> None:
    """Refuse a part that lacks a key, or has an unknown one or a value of another type."""
    for key in part.keys() - {"profile", "mutant"}:
        raise TableError(f"{path}: unknown table '{key}'; known: profile, mutant")
    if not isinstance(part.get("profile", {}), dict):
        raise TableError(f"{path}: 'profile' is not a table of tables, as [profile.NAME] makes it")
    if not isinstance(part.get("mutant", []), list):
        raise TableError(f"{path}: 'mutant' is not a list of tables, as [[mutant]] makes it")
    for name, how in part.get("profile", {}).items():
        check_entry(f"{path}: profile '{name}'", how, PROFILE)
    for number, mutant in enumerate(part.get("mutant", []), 1):
        called = f" ('{mutant['name']}')" if isinstance(mutant, dict) and "name" in mutant else ""
        what = f"{path}: mutant number {number}{called}"
        check_entry(what, mutant, MUTANT)
        if "met" in mutant and not MET.fullmatch(mutant["met"]):
            raise TableError(
                f"{what} has 'met' = '{mutant['met']}', which is not CASE/STRATEGY/MEMORY/SEED"
            )


def check_entry(what: str, entry: Any, keys: Keys) -> None:
    """Refuse an entry that lacks a key, or has an unknown one or a value of another type."""
    if not isinstance(entry, dict):
        raise TableError(f"{what} is not a table")
    needed, optional = keys
    known = needed | optional
    for key in needed:
        if key not in entry:
            raise TableError(f"{what} lacks '{key}'")
    for key, value in entry.items():
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            meant = f" (did you mean '{near[0]}'?)" if near else ""
            raise TableError(f"{what} has an unknown key '{key}'{meant}; known: {', '.join(known)}")
        kind = known[key]
        if not isinstance(value, kind):
            raise TableError(f"{what} has a '{key}' that is not a {kind.__name__}")
        if kind is list and not all(isinstance(each, str) for each in value):
            raise TableError(f"{what} has a '{key}' that is not a list of str")


def table_files() -> list[Path]:
    """Return the files that the table is in."""
    return sorted(Path(__file__).parents[1].rglob("mutants.toml"))


def read_header(include: Path, header: str) -> str:
    """Return the text of a header of a profile."""
    path = include / header
    if not path.is_file():
        raise TableError(f"'headers' names {header}, and there is no {path}")
    return path.read_text()


def split_header(text: str, header: str) -> tuple[list[str], str]:
    """Return the include lines of a header, and what is in its namespace."""
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise TableError(f"{header}: exactly one {BEGIN.strip()} and one {END} are needed")
    body = text[text.index(BEGIN) + len(BEGIN) : text.index(END)]
    return re.findall(r"^#include .*$", text, re.MULTILINE), body


def joined(
    headers: list[str], include: Path, changed: dict[str, str] | None = None
) -> tuple[list[str], str]:
    """Return the include lines of headers, and what their namespaces hold, one after another.

    What `changed` has for a header stands in place of its own.
    """
    includes: dict[str, None] = {}
    bodies = []
    for header in headers:
        lines, body = split_header(read_header(include, header), header)
        # The original as well: what the copy does not define comes from there.
        includes |= dict.fromkeys([*lines, f'#include "warpheap/{header}"'])
        bodies.append((changed or {}).get(header, body))
    return list(includes), "".join(bodies)


def in_namespace(name: str, includes: list[str], text: str) -> str:
    """Return the text of a copy in a namespace of its own."""
    # A nested namespace of the copy would hide the original's, and with it what is not copied.
    nested = dict.fromkeys(re.findall(r"^namespace (\w+) {", text, re.MULTILINE))
    uses = "".join(f"namespace {n} {{\nusing namespace ::warpheap::{n};\n}}\n" for n in nested)
    return (
        "\n".join(includes)
        + f"\n\n{BEGIN}namespace mutants::{name} {{\n{uses}{text}}}  // namespace mutants::{name}\n"
        + f"{END}\n"
    )


def reaches(header: str, wanted: str, include: Path, known: dict[str, bool]) -> bool:
    """Whether a header is or includes, over any number of others, the one that is wanted."""
    if header not in known:
        known[header] = header == wanted  # and while its own includes are looked at
        path = include / header
        text = path.read_text() if path.exists() else ""
        included = re.findall(r'^#include "warpheap/(.+)"$', text, re.MULTILINE)
        known[header] = known[header] or any(
            reaches(each, wanted, include, known) for each in included
        )
    return known[header]


def mutated(mutant: dict[str, Any], how: dict[str, Any], include: Path) -> str:
    """Return the text of a mutant of a profile: the changed header, and what includes it."""
    headers = how["headers"]
    where = f"{mutant['file']}: mutant '{mutant['name']}'"
    # How the text is broken into lines does not matter.
    text = re.compile(r"\s+".join(map(re.escape, mutant["find"].split())))
    places = []
    for header in headers:
        _, body = split_header(read_header(include, header), header)
        places += [(header, body, place) for place in text.finditer(body)]
    if len(places) != 1:
        raise TableError(
            f"{where}: its text stands {len(places)} times in {', '.join(headers)}, "
            f"where it must stand once:\n{mutant['find']}"
        )
    if mutant["find"] == mutant["replace"]:
        raise TableError(f"{where} changes nothing")
    header, body, place = places[0]
    changed = body[: place.start()] + mutant["replace"] + body[place.end() :]
    known: dict[str, bool] = {}
    copied = [each for each in headers if how.get("whole") or reaches(each, header, include, known)]
    includes, copies = joined(copied, include, {header: changed})
    return in_namespace(mutant["name"], includes, copies)


def registration(name: str, about: str, how: dict[str, Any], met: str) -> str:
    """Return the lines that make a subject of a copy."""
    quoted = about.replace("\\", "\\\\").replace('"', '\\"')
    return (
        f"namespace mutants::{name} {{\n"
        "using namespace verify;\n"
        f"using subject = {how['type']};\n"
        f"const registrar added{{{{\n"
        f'    "mutant:{name}", subject_kind::mutant, {how["cases"]},\n'
        f'    "{how["original"]}", "{quoted}", "{met}"}}}};\n'
        f"}}  // namespace mutants::{name}\n"
    )


def translation_unit(
    how: dict[str, Any], copies: list[tuple[str, str, str]], met: dict[str, str] | None = None
) -> str:
    """Return the source of copies, each a name, what is wrong with it, and its text; ``met`` says
    by their names where some are.
    """
    parts = [f'#include "{header}"' for header in how["setups"]]
    parts += [text for _, _, text in copies]
    added = [registration(name, about, how, (met or {}).get(name, "")) for name, about, _ in copies]
    return "\n".join([*parts, BEGIN, *added, END, ""])


def sources(table: dict[str, Any], profile: str, include: Path) -> str:
    """Return the translation unit of all mutants of a profile."""
    how = table["profile"][profile]
    mutants = [mutant for mutant in table["mutant"] if mutant["profile"] == profile]
    copies = [(m["name"], m["about"], mutated(m, how, include)) for m in mutants]
    return translation_unit(how, copies, {m["name"]: m.get("met", "") for m in mutants})


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--include", type=Path, required=True, help="include/warpheap")
    parser.add_argument("--list-profiles", action="store_true", help="PROFILE HEADER... a line")
    parser.add_argument("--profile", help="the profile whose source is written")
    parser.add_argument("--output", type=Path, help="where to")
    arguments = parser.parse_args()
    try:
        table = read_table(*table_files())
        if arguments.list_profiles:
            used = {mutant["profile"] for mutant in table["mutant"]}
            for name in (name for name in table["profile"] if name in used):
                print(name, *table["profile"][name]["headers"])
            return 0
        if arguments.profile not in table["profile"]:
            raise TableError(f"no profile is called '{arguments.profile}'")
        arguments.output.write_text(sources(table, arguments.profile, arguments.include))
    except (TableError, OSError) as error:
        print(f"mutate.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
