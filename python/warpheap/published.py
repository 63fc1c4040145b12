# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tree of published rows: DEVICE/CASE/MANAGER.jsonl, one row per measurement.

Filing rows replaces those of the same measurement: the newer one stays, by its ``time``, or the one
that is filed later where a row has none. What was replaced is in the history of the repository.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from warpheap import repeat_command, results, whole_file
from warpheap.console import warn
from warpheap.errors import EXIT_FAILED, UserError
from warpheap.report import fields
from warpheap.row_fields import Description

Row = dict[str, Any]
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
# How long one waits for another that files rows, which takes a second or two.
WAIT_S = 30.0
_POLL_S = 0.05
_NOTHING = Description()


def identity(
    row: Mapping[str, Any], parameters: Iterable[str] = fields.identity()
) -> tuple[Any, ...]:
    """Identify the measurement of a row: two rows with the same identity measured the same.

    That is what was measured, where, and all parameters that were given, also those that only the
    row's ``key`` knows.
    """
    what = [row.get(name) for name in ("backend", "device", "case", "manager")]
    names = dict.fromkeys([*parameters, *sorted(_keyed(row))])
    given = {name: row.get(name) for name in names if row.get(name) is not None}
    if "graph" in given:
        given["graph"] = graph_name(str(given["graph"]))
    numbers = {n: float(v) if isinstance(v, int | float) else str(v) for n, v in given.items()}
    return (*what, *numbers.items())


def _telling(row: Mapping[str, Any], parameters: Iterable[str], known: Description) -> list[str]:
    """Return the parameters that tell the measurements of the row's case apart.

    Every row has some fields, if only as null: of a case that does not have such a parameter, a
    program writes the usual value, and a row that was not finished has null.
    """
    case = known.cases.get(str(row.get("case")))
    return [
        name
        for name in parameters
        if case is None or name in case.parameters or not known.fields[name].always
    ]


def _keyed(row: Mapping[str, Any]) -> set[str]:
    """Return the parameters that a row's key names, as far as they tell measurements apart."""
    try:
        parameters = json.loads(row.get("key") or "null")[4]
        return set(parameters) - fields.NOT_IDENTITY
    except (ValueError, TypeError, IndexError, KeyError):
        return set()


def place(row: Mapping[str, Any]) -> Path:
    """Return the file of a row, relative to the tree.

    Raises UserError for a row that names no device, or a case or manager that cannot name a file.
    """
    device = "cpu" if row.get("backend") == "cpu" else _slug(str(row.get("device") or ""))
    parts = {"device": device, "case": row.get("case"), "manager": row.get("manager")}
    for name, value in parts.items():
        if not isinstance(value, str) or not _NAME.fullmatch(value):
            raise UserError(f"a row cannot be filed: its {name} is {row.get(name)!r}")
    return Path(str(parts["device"])) / str(parts["case"]) / f"{parts['manager']}.jsonl"


def file_rows(
    rows: Iterable[Row], tree: Path, described: Description = _NOTHING
) -> dict[Path, int]:
    """File rows in a tree, and merge ``described``, which describes them, into its description.

    Returns how many rows each file that was touched then has. Raises UserError if another process
    files rows there, too, and takes more than WAIT_S.
    """
    known = fields.UNDESCRIBED.merged(described)
    parameters = fields.identity(known)
    by_file: dict[Path, list[Row]] = {}
    for row in rows:
        row = _complete(row, known)
        by_file.setdefault(place(row), []).append(row)
    counts = {}
    with _alone(tree):
        for name, new in sorted(by_file.items()):
            path = tree / name
            kept: dict[tuple[Any, ...], Row] = {}
            for row in [*(results.read(path) if path.is_file() else []), *new]:
                measured = identity(row, _telling(row, parameters, known))
                before = kept.get(measured)
                if before is None or _is_newer(row, before):
                    kept[measured] = row
            path.parent.mkdir(parents=True, exist_ok=True)
            lines = [
                json.dumps(kept[key], ensure_ascii=False, separators=(",", ":"))
                for key in sorted(kept, key=_order)
            ]
            whole_file.write_text(path, "".join(line + "\n" for line in lines))
            counts[path] = len(lines)
        described.write(tree)
    return counts


@contextmanager
def _alone(tree: Path) -> Iterator[None]:
    """Make the tree this process's own: what another one writes after we read would be lost.

    The lock is on the folder, so that it leaves no file; it ends with the process that has it.
    """
    tree.mkdir(parents=True, exist_ok=True)
    folder = os.open(tree, os.O_RDONLY)
    try:
        _lock(folder, tree)
        yield
    finally:
        # A process that was forked meanwhile has the folder open, too, and must not keep the lock.
        with suppress(OSError):
            fcntl.flock(folder, fcntl.LOCK_UN)
        os.close(folder)


def _lock(folder: int, tree: Path) -> None:
    end = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > end:
                message = f"another 'warpheap publish' has been filing rows in {tree} for"
                rest = "nothing was filed; try again when it has ended"
                raise UserError(f"{message} {WAIT_S:.3g} s; {rest}", EXIT_FAILED) from None
            time.sleep(_POLL_S)
        except OSError as error:  # NFS locks no folders
            reason = f"{tree} cannot be locked ({error.strerror})"
            warn(f"{reason}: let no other 'warpheap publish' file rows there meanwhile")
            return


def _complete(row: Row, known: Description) -> Row:
    """Add what is missing in a row that a program wrote without the tool."""
    if isinstance(row.get("graph"), str):
        row = row | {"graph": graph_name(row["graph"])}
    return row | {"command": repeat_command.command(row, known)}


def graph_name(text: str) -> str:
    """Return a graph's name from that of the CSR file that the tool made of it."""
    return re.sub(r"-[0-9a-f]{16}$", "", Path(text).stem) if text.endswith(".csr") else text


def _is_newer(row: Row, before: Row) -> bool:
    """Compare the times, which are ISO 8601 in UTC, with Z or +00:00."""
    one, other = (str(each.get("time") or "").replace("Z", "+00:00") for each in (row, before))
    return not one or not other or one >= other


def _order(key: tuple[Any, ...]) -> tuple[tuple[str, bool, float, str], ...]:
    """Order measurements by their parameters: numbers by their size, before texts."""
    parts = (part if isinstance(part, tuple) else ("", str(part)) for part in key)
    return tuple(
        (name, False, value, "") if isinstance(value, float) else (name, True, 0.0, value)
        for name, value in parts
    )


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-")
