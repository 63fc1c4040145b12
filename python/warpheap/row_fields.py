# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the fields of result rows mean, as the programs describe them.

A program declares each field once and prints the declarations in ``PROGRAM list``. The description
travels with the rows: a survey writes ``fields.json`` beside them, and readers take the nearest one
from the rows' folder upwards. The file holds ``schema``, ``fields`` and ``cases`` of that list,
without the defaults that differ by backend: it describes rows of all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from warpheap import whole_file
from warpheap.errors import UserError
from warpheap.units import binary, decimal, milliseconds

FILE_NAME = "fields.json"
SCHEMA = 1
KINDS = ("text", "integer", "number", "flag", "summary", "list", "graph")
ROLES = ("identity", "axis", "facet", "detail", "result")
_NAMES = ("case", "manager", "status")
_MEASURED = ("detail", "result")  # roles of what a case says about its rows


@dataclass(frozen=True)
class Field:
    """One field of a row.

    ``kind`` is one of KINDS: a summary is an object of numbers such as ``{"median": 2.5}``, a list
    has numbers, a graph is the name of one. ``role`` is one of ROLES: an axis is what a figure may
    have as x, a facet what rows of one line have in common, a detail what tables alone show, a
    result what was measured.
    ``phrase`` says a value in a title, with ``{}`` for the value. ``always``: every row has it.
    A value is at least ``least`` (more for the kind number) and at most ``most``, or it is one of
    ``choices``, if there are any. ``alias``: a flag that sets all fields of that alias.
    """

    name: str
    unit: str = ""
    kind: str = "text"
    role: str = "detail"
    about: str = ""
    phrase: str = "{}"
    better: str = ""
    always: bool = False
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    alias: str = ""

    def text(self, value: Any) -> str:
        """Write a value, with its unit except for counts such as threads."""
        if not _is_number(value):
            return str(value)
        if self.unit == "bytes":
            return binary(value, "B")
        if self.unit == "ms":
            return milliseconds(value)
        if self.unit == "share":
            return f"{100 * value:.3g} %"
        if self.unit == "ratio":
            return f"{decimal(value)}×"
        if self.kind == "integer":
            return binary(value)
        # What was measured is not exact to the last digit.
        number = decimal(value) if self.role == "result" else f"{value:.15g}"
        return f"{number} {self.unit}".rstrip()

    def say(self, value: Any) -> str:
        """Say a value in a few words, as titles and tables do: 1024 -> '1 Ki threads'."""
        text = self.text(value)
        if self.phrase == "{}" and self.kind == "integer" and self.unit != "bytes":
            return f"{text} {self.unit}".rstrip()
        return self.phrase.replace("{}", text)

    def fault(self, value: Any) -> str | None:
        """Say what is needed if this is not a value of the field, or return None."""
        if self.kind in ("text", "graph"):
            if self.choices and value not in self.choices:
                return "one of " + ", ".join(self.choices)
            return None if isinstance(value, str) else "a text"
        if self.kind == "flag":
            return None if isinstance(value, bool) else "true or false"
        if self.kind == "summary":
            return None if isinstance(value, dict) else "an object of numbers"
        if self.kind == "list":
            good = isinstance(value, list) and all(map(_is_number, value))
            return None if good else "a list of numbers"
        least = self.least or 0
        above = self.kind == "number" and self.least is not None
        good = _is_number(value) and (value > least if above else value >= least)
        if good and (self.most is None or value <= self.most):
            return None
        lower, upper = ("above", "and up to") if above else ("from", "to")
        limit = "" if self.most is None else f" {upper} {self.most:.15g}"
        return f"a number {lower} {least:.15g}{limit}"


@dataclass(frozen=True)
class CaseFields:
    """A case: its parameters with their defaults, and the fields that its rows have beside them.

    Each backend has a default of its own for the parameters ``by_backend``: only a program says it.
    A case that ``fills`` goes on until the heap is exhausted, so that null is what it waits for.
    """

    name: str
    about: str = ""
    fills: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)
    by_backend: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the case's entry in ``fields.json``."""
        parameters = [
            {"name": n, **({"by_backend": True} if n in self.by_backend else {"default": v})}
            for n, v in self.parameters.items()
        ]
        return {
            "name": self.name,
            "about": self.about,
            "fills": self.fills,
            "parameters": parameters,
            "fields": self.fields,
        }


@dataclass(frozen=True)
class Description:
    """The fields and cases that a program, or the rows of several, have; by name and in order."""

    fields: Mapping[str, Field] = field(default_factory=dict)
    cases: Mapping[str, CaseFields] = field(default_factory=dict)

    @staticmethod
    def of(document: Mapping[str, Any], more: Sequence[Field] = ()) -> Description:
        """Read what ``PROGRAM list`` prints, or ``fields.json``.

        Raises ValueError with the place and the reason if it is not in that form.
        """
        fields = [*(_field(*entry) for entry in _entries(document, "fields")), *more]
        cases = [_case(*entry) for entry in _entries(document, "cases")]
        return Description({f.name: f for f in fields}, {c.name: c for c in cases})

    def document(self) -> dict[str, Any]:
        """Return the content of ``fields.json``."""
        fields = [_without_defaults(vars(known)) for known in self.fields.values()]
        cases = [case.document() for case in self.cases.values()]
        return {"schema": SCHEMA, "fields": fields, "cases": cases}

    def text(self) -> str:
        """Return the text of ``fields.json``."""
        return json.dumps(self.document(), indent=1, ensure_ascii=False) + "\n"

    def parameters(self, case: str | None = None) -> list[Field]:
        """Return the parameters of a case, or all that any case has, in the order of the rows."""
        chosen = self.cases.values() if case is None else [self.cases[case]]
        names = {name for entry in chosen for name in entry.parameters}
        return [known for name, known in self.fields.items() if name in names]

    def axes(self, case: str) -> list[Field]:
        """Return the parameters of a case that a figure may have as x."""
        return [known for known in self.parameters(case) if known.role == "axis"]

    def results(self, case: str) -> list[Field]:
        """Return what is measured in a case."""
        names = self.cases[case].fields
        return [self.fields[name] for name in names if self.fields[name].role == "result"]

    def fills(self, case: str) -> bool:
        """Tell whether a case goes on until the heap is exhausted (False if it is not known)."""
        return case in self.cases and self.cases[case].fills

    def fault(self, row: Mapping[str, Any]) -> str | None:
        """Say which field of a row has a value that it cannot have, or return None.

        Fields that are not described may have any value, and so may those of a request that the
        program rejected: the row says why. What other cases say about a result or a detail need not
        be true of a case that is not described.
        """
        for name in _NAMES:
            if not isinstance(row.get(name), str):
                return f"the row has no {name}"
        if row.get("rejected_request") is True:
            return None
        fields = self.fields
        if row["case"] not in self.cases:
            fields = {n: f for n, f in fields.items() if f.always or f.role not in _MEASURED}
        for name, value in row.items():
            known = fields.get(name)
            what = known.fault(value) if known and value is not None else None
            if what:
                return f"{name} is {_short(value)}; {what} is needed"
        for name, value in _parts(row, fields):
            if value is not None and not (_is_number(value) and value >= 0):
                return f"{name} is {_short(value)}; a number from 0 is needed"
        return None

    def merged(self, newer: Description) -> Description:
        """Merge two descriptions; where both have an entry, the newer one counts."""
        return Description({**self.fields, **newer.fields}, {**self.cases, **newer.cases})

    def write(self, folder: Path) -> None:
        """Write ``fields.json``; keep the other entries of an existing one."""
        file = folder / FILE_NAME
        whole = _read(file).merged(self) if file.exists() else self
        whole_file.write_text(file, whole.text())


def find(rows: Path) -> Description:
    """Read the ``fields.json`` that describes a file of rows: the nearest one from its folder
    upwards. Raises UserError if there is none, or if it cannot be read.
    """
    folder = rows.resolve().parent
    for place in (folder, *folder.parents):
        if (place / FILE_NAME).is_file():
            return _read(place / FILE_NAME)
    raise UserError(
        f"{rows}: no {FILE_NAME} beside it or in a folder above it describes its rows; "
        f"'warpheap list --fields > {folder / FILE_NAME}' writes what the built programs say"
    )


@cache
def of_published_rows() -> Description:
    """Return what is known of the published rows of this version: the file in ``results/`` of the
    checkout, or its copy in an installed package.
    """
    package = Path(__file__).resolve().parent
    installed = package / "share/warpheap" / FILE_NAME
    return _read(installed if installed.is_file() else package.parents[1] / "results" / FILE_NAME)


def describe(rows: Path) -> Description:
    """Return what is known of a file of rows: what ``find`` reads, beside and instead of what is
    known of the published rows. Raises UserError for a ``fields.json`` that cannot be read.
    """
    known = of_published_rows()
    try:
        return known.merged(find(rows))
    except UserError:
        if any((folder / FILE_NAME).is_file() for folder in rows.resolve().parents):
            raise  # it is there and cannot be read
        return known


def _read(file: Path) -> Description:
    return _parsed(file, file.read_bytes())


@lru_cache(maxsize=16)
def _parsed(file: Path, text: bytes) -> Description:
    """Read a text once: a folder of rows asks for it again with each of its files."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{file}: not JSON: {error}") from error
    try:
        if not isinstance(document, dict):
            raise ValueError(f"an object is needed, not {_short(document)}")
        if _member(document, "schema", int) != SCHEMA:
            raise ValueError(f"schema is {document['schema']}, not {SCHEMA}")
        return Description.of(document)
    except ValueError as error:
        raise UserError(f"{file}: {error}") from error


# How a description's values are written in JSON, by the types of the classes above.
_JSON: Mapping[Any, tuple[Callable[[Any], bool], str]] = {
    "str": (lambda value: isinstance(value, str), "a text"),
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "float | None": (lambda value: value is None or _is_number(value), "a number"),
    "tuple[str, ...]": (
        lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
        "a list of texts",
    ),
    int: (lambda value: isinstance(value, int), "a whole number"),
    dict: (lambda value: isinstance(value, dict), "an object"),
    list: (lambda value: isinstance(value, list), "a list"),
}


def _checked(where: str, value: Any, kind: Any) -> Any:
    fits, what = _JSON[kind]
    if not fits(value):
        raise ValueError(f"{where} is {_short(value)}; {what} is needed")
    return value


def _member(document: Mapping[str, Any], name: str, kind: Any, where: str = "") -> Any:
    """Return a member that must be there; ``where`` names the object, with a dot at its end."""
    if name not in document:
        raise ValueError(f"{where}{name} is missing")
    return _checked(where + name, document[name], kind)


def _entries(
    document: Mapping[str, Any], name: str, where: str = ""
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a list, each after the words that name its members."""
    for number, entry in enumerate(_member(document, name, list, where)):
        place = f"{where}{name}[{number}]"
        yield f"{place}.", _checked(place, entry, dict)


def _field(where: str, entry: Mapping[str, Any]) -> Field:
    _member(entry, "name", "str", where)
    types = Field.__annotations__
    for name, value in entry.items():
        if name not in types:
            raise ValueError(f"{where}{name} is unknown; a field has {', '.join(types)}")
        allowed = {"kind": KINDS, "role": ROLES}.get(name)
        if allowed and value not in allowed:
            ones = ", ".join(allowed)
            raise ValueError(f"{where}{name} is {_short(value)}; one of {ones} is needed")
        _checked(where + name, value, types[name])
    return Field(**{**entry, "choices": tuple(entry.get("choices", ()))})


def _case(where: str, entry: Mapping[str, Any]) -> CaseFields:
    parameters = list(_entries(entry, "parameters", where))
    return CaseFields(
        name=_member(entry, "name", "str", where),
        about=_checked(f"{where}about", entry.get("about", ""), "str"),
        fills=_checked(f"{where}fills", entry.get("fills", False), "bool"),
        parameters={_member(p, "name", "str", at): p.get("default") for at, p in parameters},
        by_backend=frozenset(
            p["name"]
            for at, p in parameters
            if _checked(f"{at}by_backend", p.get("by_backend", False), "bool")
        ),
        fields=tuple(_member(entry, "fields", "tuple[str, ...]", where)),
    )


def _without_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    standard = vars(Field(""))
    return {n: v for n, v in values.items() if n in ("name", "kind", "role") or v != standard[n]}


def _is_number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _parts(row: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[tuple[str, Any]]:
    """Return the numbers of summaries by their columns' names, as in malloc_ms.median."""
    for name, value in row.items():
        known = fields.get(name.partition(".")[0])
        if known is None or known.kind != "summary" or value is None:
            continue
        if isinstance(value, dict):
            yield from ((f"{name}.{part}", number) for part, number in value.items())
        elif "." in name:
            yield name, value


def _short(value: Any, limit: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[:limit] + "…"
