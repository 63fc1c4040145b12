# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Write what the docs say about the managers: the README's table, the list in docs/null.md, and
docs/managers/FOLDER.md.

Names, descriptions, publications and deviations are what the managers say about themselves, as
``warpheap-bench-cpu list`` prints it. The rest comes from the comments of the headers:

- a drawing is what follows a line ``/// ... layout ...:`` and is indented by four blanks;
- what a part has is the first sentence of its header's ``/// \\file``, or else of its first type;
- what null means in docs/null.md is the paragraph ``/// Null: ...`` of FOLDER.hpp, which every
  manager has;
- why a manager is slow under steady load is the paragraph ``/// Steady load: ...``, or
  ``/// Steady load (names): ...`` of some managers of the folder;
- why rows of other cases of the survey were not finished is ``/// Not finished (cases): ...``.

How long launches took is the newest line of each manager in results/checks/steady_load.txt, and
the rows of the survey's case ``steady`` in results/nvidia-h200/steady. With
``--check`` nothing is written, and the exit status is 1 if a file differs.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from header_comments import layouts, paragraph, purpose

ROOT = Path(__file__).parents[1]
BEGIN = "<!-- The managers, made by tools/manager_docs.py -->\n"
END = "<!-- End of the managers -->\n"
UNITS = ("B", "KiB", "MiB", "GiB")
STEADY = "results/checks/steady_load.txt"
STEADY_ROWS = "results/nvidia-h200/steady"
STEADY_REASON = re.compile(r"Steady load(?: \((.*?)\))?: (.*)")
UNFINISHED_REASON = re.compile(r"Not finished \((.*?)\): (.*)")
# What every folder has, under the same names.
NOT_PARTS = ("inspection", "publication")
STEADY_LINE = re.compile(r"(\w+) +\d+ launches, longest +([\d.]+) ms, .* 0 wrong, 0 lost: ")

Manager = dict[str, Any]


class DocsError(Exception):
    """The managers or the headers do not say what the docs need."""


def read_managers(program: Path) -> list[Manager]:
    """Ask the program for its managers, those that it cannot run included."""
    answer = subprocess.run([program, "list"], check=True, capture_output=True, text=True)
    managers: list[Manager] = json.loads(answer.stdout)["managers"]
    for manager in managers:
        for field in ("description", "folder"):
            if not manager[field]:
                raise DocsError(f"manager '{manager['name']}' says nothing about its {field}")
    return managers


def by_folder(managers: list[Manager]) -> dict[str, list[Manager]]:
    """The managers of each folder, in the registry's order."""
    folders: dict[str, list[Manager]] = {}
    for manager in managers:
        folders.setdefault(manager["folder"], []).append(manager)
    return folders


def models(manager: Manager) -> str:
    """Where the manager runs."""
    return "CPU, CUDA" if manager["available"] else "CUDA"


def short_source(manager: Manager) -> str:
    """The publication in a few words: surnames and year."""
    if not manager["year"]:
        return ""
    surnames = [author.split()[-1] for author in manager["authors"].split(", ")]
    names = f"{surnames[0]} et al." if len(surnames) > 2 else ", ".join(surnames)
    return f"{names}, {manager['year']}"


def full_source(manager: Manager) -> str:
    """The publication in full; empty for baselines."""
    if not manager["title"]:
        return ""
    text = f'{manager["authors"]}: "{manager["title"]}"'
    text += "".join(f", {part}" for part in (manager["venue"], manager["year"]) if part)
    if manager["doi"]:
        text += f", DOI [{manager['doi']}](https://doi.org/{manager['doi']})"
    return text + "."


def largest_block(manager: Manager) -> str:
    """The largest block, as a reader would write it."""
    claims = manager["capabilities"]
    if claims["scope"] == "page":
        return "the page, chosen with the heap"
    count = claims["largest_block"]
    if count is None:
        return "bounded by the heap"
    unit = 0
    while count % 1024 == 0 and unit + 1 < len(UNITS):
        count //= 1024
        unit += 1
    return f"{count} {UNITS[unit]}"


def readme_table(managers: list[Manager]) -> str:
    """The table between the README's marks."""
    rows = [
        f"| [`{m['name']}`](docs/managers/{m['folder']}.md) | {m['description']} "
        f"| {short_source(m)} | {models(m)} |\n"
        for m in managers
    ]
    return "| name | what it is | published | runs on |\n|---|---|---|---|\n" + "".join(rows)


def null_list(folders: dict[str, list[Manager]]) -> str:
    """What null means of the managers of each folder, between the marks of docs/null.md."""
    text = ""
    for folder, members in folders.items():
        header = ROOT / "include/warpheap/managers" / folder / f"{folder}.hpp"
        meaning = paragraph(header, "Null: ").removeprefix("Null: ") if header.exists() else ""
        if not meaning:
            raise DocsError(f"no paragraph '/// Null: ...' in {header}")
        names = ", ".join(f"`{m['name']}`" for m in members)
        item = f"- [{names}](managers/{folder}.md): {meaning}"
        text += textwrap.fill(
            item, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        text += "\n"
    return text


def parts(headers: Path) -> str:
    """The section on the other headers of a folder; empty if there are none."""
    told = [
        (header.name, purpose(header))
        for header in sorted(headers.glob("*.hpp"))
        if header.stem not in (headers.name, *NOT_PARTS)
    ]
    rows = "".join(f"| `{name}` | {what} |\n" for name, what in told if what)
    return f"\n## Parts\n| header | what it has |\n|---|---|\n{rows}" if rows else ""


def longest_launches(text: str) -> dict[str, float]:
    """The longest launch of each manager in ms, from the newest line about it that is right."""
    return {
        found[1]: float(found[2]) for found in map(STEADY_LINE.match, text.splitlines()) if found
    }


def published_launches(root: Path) -> dict[str, list[tuple[str, float]]]:
    """What each manager's published rows of the case ``steady`` say: (sizes, longest launch in ms),
    in the order of the rows. A launch that had not finished took infinitely long.
    """
    published: dict[str, list[tuple[str, float]]] = {}
    for file in sorted((root / STEADY_ROWS).glob("*.jsonl")):
        for row in map(json.loads, file.read_text().splitlines()):
            if row["status"] in ("ok", "timeout"):
                longest = row["longest_ms"] if row["status"] == "ok" else math.inf
                published.setdefault(row["manager"], []).append((sizes(row), longest))
    return published


def sizes(row: Manager) -> str:
    """The sizes that the lanes of a row ask for."""
    least, most = row["size_min"], row["size_max"]
    if least == most:
        return f"{least:,} B"
    kind = "powers of two" if row["distribution"] == "powers" else "any size"
    return f"{kind}, {least:,} to {most:,} B"


def duration(ms: float) -> str:
    """A time as headers quote it."""
    if math.isinf(ms):
        return "not finished"
    return f"{ms:.0f} ms" if ms < 999.5 else f"{ms / 1000:.2f} s"


def steady_load(headers: Path, managers: list[Manager]) -> str:
    """The section on launches that want more memory than there is; empty if none was measured and
    the header says nothing about them."""
    text = steady_reasons(headers) + checked_launches(managers) + surveyed_launches(managers)
    return "\n## Under steady load\n" + text if text else ""


def steady_reasons(headers: Path) -> str:
    """What the headers of the folder say about steady load."""
    text = ""
    for header in sorted(headers.glob("*.hpp")):
        if why := STEADY_REASON.match(paragraph(header, "Steady load")):
            reason = f"{why[1]}: {why[2]}" if why[1] else why[2][0].upper() + why[2][1:]
            text += textwrap.fill(reason, 100) + "\n"
    return text


def unfinished_reasons(headers: Path) -> list[tuple[str, str]]:
    """For which cases a folder's headers say why rows were not finished, and what they say."""
    texts = (paragraph(header, "Not finished") for header in sorted(headers.glob("*.hpp")))
    return [(why[1], why[2]) for text in texts if (why := UNFINISHED_REASON.match(text))]


def unfinished(headers: Path) -> str:
    """The section on rows that were not finished; empty if no header speaks of any."""
    text = "".join(
        textwrap.fill(f"{cases}: {why}", 100) + "\n" for cases, why in unfinished_reasons(headers)
    )
    return "\n## Rows that were not finished\n" + text if text else ""


def checked_launches(managers: list[Manager]) -> str:
    """The longest launches of the load whose every word is checked."""
    checks = ROOT / STEADY
    longest = longest_launches(checks.read_text()) if checks.exists() else {}
    measured = [(m["name"], longest[m["name"]]) for m in managers if m["name"] in longest]
    if not measured:
        return ""
    text = "\nThe longest launch of 262,144 lanes on each of three streams that want more than a "
    text += "heap of\n1 GiB has, in ms on an NVIDIA H200 or H100, with every word checked ("
    text += f"[steady_load.txt](../../{STEADY})):\n\n"
    text += "| " + " | ".join(f"`{name}`" for name, _ in measured) + " |\n"
    text += "|" + "---|" * len(measured) + "\n"
    return text + "| " + " | ".join(f"{ms:,.0f}" for _, ms in measured) + " |\n"


def surveyed_launches(managers: list[Manager]) -> str:
    """The longest launches of the published rows of the case ``steady``."""
    published = published_launches(ROOT)
    rows = "".join(
        f"| `{m['name']}` | {what} | {duration(ms)} |\n"
        for m in managers
        for what, ms in published.get(m["name"], ())
    )
    if not rows:
        return ""
    text = "\nThe longest launch in the survey's case `steady`, of 262,144 lanes on each of three "
    text += "streams in a\nheap of 256 MiB on an NVIDIA H200 ("
    text += f"[its rows](../../{STEADY_ROWS})):\n\n"
    return text + "| manager | sizes | longest launch |\n|---|---|---|\n" + rows


def page(folder: str, managers: list[Manager]) -> str:
    """The page of the managers of one folder."""
    headers = ROOT / "include/warpheap/managers" / folder
    if not headers.is_dir():
        raise DocsError(
            f"'{managers[0]['name']}' names the folder '{folder}': there is no {headers}"
        )
    text = "<!-- Made by tools/manager_docs.py: change the manager's header, not this page. -->\n"
    text += f"# {', '.join(m['name'] for m in managers)}\n\n"
    sources = dict.fromkeys(filter(None, map(full_source, managers)))
    text += "".join(f"{source}\n\n" for source in sources)
    text += f"The headers in [managers/{folder}](../../include/warpheap/managers/{folder})\n"
    text += "explain the algorithm, the invariants and why every loop makes progress.\n\n"
    text += "| name | what it is | largest block | frees | reuse | runs on |\n"
    text += "|---|---|---|---|---|---|\n"
    for m in managers:
        claims = m["capabilities"]
        text += f"| `{m['name']}` | {m['description']} | {largest_block(m)} "
        text += f"| {'yes' if claims['frees'] else 'no'} | {claims['reuse']} | {models(m)} |\n"
    text += "\nMeasured beside the others: "
    text += "[one block per thread](../performance.md#one-block-per-thread),\n"
    text += "[heaps that are in use, and steady load](../performance.md#used-heaps).\n"
    text += steady_load(headers, managers)
    text += unfinished(headers)
    text += deviations(managers)
    text += parts(headers)
    drawn = [
        f"\n{caption}, {header.name}:\n\n```text\n{drawing}\n```\n"
        for header in sorted(headers.glob("*.hpp"))
        for caption, drawing in layouts(header)
    ]
    if drawn:
        text += "\n## Memory\n" + "".join(drawn)
    return text


def deviations(managers: list[Manager]) -> str:
    """The section on how the managers depart from their publication; empty if they do not."""
    whose: dict[str, list[str]] = {}
    for m in managers:
        for deviation in m["deviations"]:
            whose.setdefault(deviation, []).append(m["name"])
    if not whose:
        return ""
    text = "\n## Departures from the publication\n"
    for deviation, names in whose.items():
        only = "" if len(names) == len(managers) else f" ({', '.join(f'`{n}`' for n in names)})"
        text += f"- {deviation.removesuffix('.')}{only}.\n"
    return text


def documents(managers: list[Manager]) -> dict[Path, str]:
    """What each file should say."""
    folders = by_folder(managers)
    result = {
        ROOT / "docs/managers" / f"{folder}.md": page(folder, members)
        for folder, members in folders.items()
    }
    result |= between_marks("README.md", readme_table(managers))
    return result | between_marks("docs/null.md", null_list(folders))


def between_marks(name: str, made: str) -> dict[Path, str]:
    """What a page should say that has more than what is made here."""
    path = ROOT / name
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DocsError(f"{name} lacks the marks {BEGIN.strip()} and {END.strip()}")
    return {path: before + BEGIN + made + END + after}


def update(wanted: dict[Path, str], check: bool) -> list[str]:
    """Write what differs, or with `check` only look; the files that differed."""
    differing = []
    stale = set((ROOT / "docs/managers").glob("*.md")) - wanted.keys()
    for path, text in wanted.items():
        if path.exists() and path.read_text() == text:
            continue
        differing.append(str(path.relative_to(ROOT)))
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    for path in sorted(stale):
        differing.append(str(path.relative_to(ROOT)))
        if not check:
            path.unlink()
    return differing


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="warpheap-bench-cpu")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if files differ")
    arguments = parser.parse_args()
    try:
        differing = update(documents(read_managers(arguments.program)), arguments.check)
    except (DocsError, OSError, subprocess.CalledProcessError, KeyError, ValueError) as error:
        print(f"manager_docs.py: {error}", file=sys.stderr)
        return 2
    for path in differing:
        print(path, "differs: run tools/manager_docs.py" if arguments.check else "written")
    return 1 if arguments.check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
