# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The file of results: one JSON object per line, appended row by row, safe against interruption."""

from __future__ import annotations

import fcntl
import json
import re
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

from warpheap import row_fields
from warpheap.closing import Closing
from warpheap.errors import EXIT_FAILED, UserError
from warpheap.row_fields import SCHEMA, Description

FILE_NAME = "results.jsonl"
# In the order of tables. Rows with the first two say that nothing is wrong.
STATUSES = ("ok", "skipped", "failed", "crashed", "timeout")
GOOD = ("ok", "skipped")
RETRIED = ("timeout", "crashed")
# Those of all rows have this form, so that texts are in the order of the times.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def read(path: Path) -> list[dict[str, Any]]:
    """Read all rows of a result file.

    A last line without its line feed is what an interrupted write leaves, and is left out. Any
    other line that is not a row raises UserError with FILE:LINE.
    """
    rows = []
    known = row_fields.describe(path)
    with path.open("r", encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith("\n"):
                break
            if line.strip():
                rows.append(_row(path, number, line, known))
    return rows


def find_files(places: list[Path]) -> list[Path]:
    """List the result files that files and folders name; each must name one or more.

    A folder without rows of its own stands for all below it, as in the tree of published rows.
    """
    files: list[Path] = []
    for place in places:
        if place.is_file():
            files.append(place)
            continue
        if not place.is_dir():
            raise UserError(f"{place}: no such file or folder")
        found = sorted(place.glob("*.jsonl")) or sorted(place.rglob("*.jsonl"))
        if not found:
            raise UserError(f"{place}: no *.jsonl file in it; 'warpheap survey' writes one")
        files += found
    return files


def succeeded(statuses: Collection[str]) -> bool:
    """Tell from the statuses of rows whether nothing is wrong and something was measured."""
    return "ok" in statuses and all(status in GOOD for status in statuses)


class Store(Closing):
    """A result file that only this process has open for appending; use it in ``with``."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / FILE_NAME
        self._file = self.path.open("a+b")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise UserError(
                f"{self.path} is being written by another survey; choose another --out", EXIT_FAILED
            ) from None
        self._cut_torn_line()
        self.rows = read(self.path)

    def close(self) -> None:
        """Let other processes append to the file."""
        self._file.close()

    def finished(self, retry: bool) -> set[tuple[str, str]]:
        """Return (key, commit) of the rows that need no new measurement.

        With ``retry`` the measurements whose last row is a timeout or a crash are not among them.
        """
        last = {(row.get("key", ""), row.get("commit", "")): row["status"] for row in self.rows}
        return {key for key, status in last.items() if not (retry and status in RETRIED)}

    def append(self, row: dict[str, Any]) -> None:
        """Write one row and pass it to the operating system immediately.

        Bytes of a file name that are not UTF-8 are written as the escapes that JSON has for them.
        """
        text = json.dumps(row, ensure_ascii=False)
        self._file.write(text.encode("utf-8", "backslashreplace") + b"\n")
        self._file.flush()
        self.rows.append(row)

    def _cut_torn_line(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole != len(content):
            self._file.truncate(whole)


def _row(path: Path, number: int, line: str, known: Description) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}:{number}: not JSON: {error}") from error
    if not isinstance(row, dict) or row.get("schema") != SCHEMA:
        raise UserError(f"{path}:{number}: not a row of schema {SCHEMA}")
    wrong = known.fault(row)
    if wrong:
        raise UserError(f"{path}:{number}: {wrong}")
    if row.get("status") not in STATUSES:
        known_ones = ", ".join(STATUSES)
        raise UserError(
            f"{path}:{number}: status is {row.get('status')!r}, not one of {known_ones}"
        )
    if row.get("time") is not None and not _is_time(row["time"]):
        example = "2026-01-31T12:00:00Z"
        reason = f"time is {row['time']!r}; ISO 8601 in UTC is needed, as in {example}"
        raise UserError(f"{path}:{number}: {reason}")
    return row


def _is_time(text: Any) -> bool:
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        return False
    try:
        return bool(datetime.fromisoformat(text))
    except ValueError:
        return False
