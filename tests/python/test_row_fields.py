# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The description of rows: what it says about a field, and how it travels with the rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from warpheap import row_fields
from warpheap.errors import UserError
from warpheap.row_fields import Description

DOCUMENT: dict[str, Any] = {
    "schema": 1,
    "fields": [
        {"name": "status", "kind": "text", "role": "identity", "always": True},
        {
            "name": "threads",
            "unit": "threads",
            "kind": "integer",
            "role": "axis",
            "phrase": "{} threads",
            "least": 1,
        },
        {"name": "seed", "kind": "integer", "role": "detail"},
        {"name": "free_percent", "unit": "%", "kind": "number", "role": "axis", "least": 0},
        {"name": "rounds", "kind": "integer", "role": "facet", "least": 1, "most": 1000},
        {"name": "skew", "kind": "number", "role": "facet", "least": 0, "most": 8},
        {"name": "mode", "kind": "text", "role": "facet", "choices": ["thread", "warp"]},
        {"name": "spin_ms", "unit": "ms", "kind": "summary", "role": "result", "better": "less"},
        {"name": "full", "kind": "flag", "role": "result"},
        {"name": "turns", "kind": "list"},
    ],
    "cases": [
        {
            "name": "spin",
            "about": "turns round",
            "fills": True,
            "parameters": [{"name": "seed", "default": 1}, {"name": "threads", "default": 64}],
            "fields": ["spin_ms", "full"],
        },
        {"name": "rest", "parameters": [], "fields": []},
    ],
}
ROW = {"case": "spin", "manager": "m", "status": "ok"}


def described() -> Description:
    return Description.of(DOCUMENT)


def test_axes_and_results_of_a_case() -> None:
    known = described()
    assert [f.name for f in known.parameters("spin")] == ["threads", "seed"]
    assert [f.name for f in known.axes("spin")] == ["threads"]
    assert [f.name for f in known.results("spin")] == ["spin_ms", "full"]
    assert (known.fills("spin"), known.fills("rest"), known.fills("unknown")) == (1, 0, 0)
    assert known.fields["threads"].say(2048) == "2 Ki threads"
    assert known.fields["free_percent"].say(0.5) == "0.5 %"


@pytest.mark.parametrize(
    "fields, message",
    [
        ({}, None),
        ({"threads": 1, "unknown": [], "spin_ms": {"median": 0.5}}, None),
        ({"threads": None}, None),
        ({"status": 3}, "the row has no status"),
        ({"threads": 0}, "threads is 0; a number from 1 is needed"),
        ({"threads": True}, "threads is True; a number from 1 is needed"),
        ({"threads": 10**400}, "a number from 1 is needed"),
        ({"seed": -1}, "seed is -1; a number from 0 is needed"),
        ({"free_percent": 0}, "free_percent is 0; a number above 0 is needed"),
        ({"rounds": 1000, "skew": 8, "mode": "warp"}, None),
        ({"rounds": 1001}, "rounds is 1001; a number from 1 to 1000 is needed"),
        ({"rounds": 1001, "rejected_request": True}, None),
        ({"skew": 8.5}, "skew is 8.5; a number above 0 and up to 8 is needed"),
        ({"mode": "block"}, "mode is 'block'; one of thread, warp is needed"),
        ({"mode": 1}, "mode is 1; one of thread, warp is needed"),
        ({"spin_ms": 3}, "spin_ms is 3; an object of numbers is needed"),
        ({"spin_ms": {"median": "x"}}, "spin_ms.median is 'x'; a number from 0 is needed"),
        ({"spin_ms.std": -1}, "spin_ms.std is -1; a number from 0 is needed"),
        ({"full": 1}, "full is 1; true or false is needed"),
        ({"turns": [1, 2.5]}, None),
        ({"turns": 1}, "turns is 1; a list of numbers is needed"),
        ({"turns": [1, "2"]}, "turns is [1, '2']; a list of numbers is needed"),
    ],
)
def test_faults_of_rows(fields: dict[str, Any], message: str | None) -> None:
    found = described().fault(ROW | fields)
    assert found is None if message is None else message in str(found)


def test_a_case_that_is_not_described_may_have_other_results() -> None:
    known = described()
    other = ROW | {"case": "novel"}
    assert known.fault(other | {"spin_ms": 3, "full": 1, "seed": "x"}) is None
    assert known.fault(other | {"threads": 0}) == "threads is 0; a number from 1 is needed"
    assert (
        known.fault(other | {"mode": "block"}) == "mode is 'block'; one of thread, warp is needed"
    )


def test_the_nearest_description_upwards_counts(tmp_path: Path) -> None:
    rows = tmp_path / "device" / "case" / "rows.jsonl"
    rows.parent.mkdir(parents=True)
    with pytest.raises(UserError, match=r"rows.jsonl: no fields.json beside it or in a folder"):
        row_fields.find(rows)
    described().write(tmp_path)
    assert row_fields.find(rows) == described()
    Description.of(document()).write(rows.parent)
    assert row_fields.find(rows) == Description()


def test_what_older_programs_described_is_kept(tmp_path: Path) -> None:
    described().write(tmp_path)
    newer = {"name": "spin", "parameters": [], "fields": []}
    Description.of(document(cases=[newer])).write(tmp_path)
    both = row_fields.find(tmp_path / "rows.jsonl")
    assert list(both.fields) == list(described().fields)
    assert both.cases["spin"].fields == ()
    assert "rest" in both.cases


def test_a_default_that_differs_by_backend_is_left_out_of_the_file(tmp_path: Path) -> None:
    heap = {"name": "heap_bytes", "default": 1 << 28, "by_backend": True}
    case = {"name": "spin", "parameters": [heap, {"name": "seed", "default": 1}], "fields": []}
    said = Description.of(document(cases=[case]))
    assert said.cases["spin"].parameters == {"heap_bytes": 1 << 28, "seed": 1}
    said.write(tmp_path)
    (written,) = json.loads((tmp_path / "fields.json").read_text())["cases"]
    assert written["parameters"] == [
        {"name": "heap_bytes", "by_backend": True},
        {"name": "seed", "default": 1},
    ]
    case["parameters"] = [heap | {"default": 1 << 30}, {"name": "seed", "default": 1}]
    assert Description.of(document(cases=[case])).text() == said.text()
    again = row_fields.find(tmp_path / "rows.jsonl")
    assert again.text() == said.text()
    assert again.cases["spin"].parameters == {"heap_bytes": None, "seed": 1}


def document(**changes: Any) -> dict[str, Any]:
    return {"schema": 1, "fields": [], "cases": []} | changes


@pytest.mark.parametrize(
    "content, reason",
    [
        ([], "an object is needed, not []"),
        ({}, "schema is missing"),
        (document(schema=2), "schema is 2, not 1"),
        ({"schema": 1, "cases": []}, "fields is missing"),
        (document(fields=3), "fields is 3; a list is needed"),
        (document(fields=["a"]), "fields[0] is 'a'; an object is needed"),
        (document(fields=[{"kind": "text"}]), "fields[0].name is missing"),
        (document(fields=[{"name": 5}]), "fields[0].name is 5; a text is needed"),
        (document(fields=[{"name": "a", "kind": "odd"}]), "fields[0].kind is 'odd'; one of text, "),
        (document(fields=[{"name": "a", "role": []}]), "fields[0].role is []; one of identity, "),
        (document(fields=[{"name": "a", "always": 1}]), "fields[0].always is 1; true or false is"),
        (document(fields=[{"name": "a", "least": "1"}]), "fields[0].least is '1'; a number is"),
        (document(fields=[{"name": "a", "choices": [1]}]), "fields[0].choices is [1]; a list of"),
        (document(fields=[{"name": "a", "colour": 1}]), "fields[0].colour is unknown"),
        (document(cases={}), "cases is {}; a list is needed"),
        (document(cases=[{"name": "a", "parameters": []}]), "cases[0].fields is missing"),
        (
            document(cases=[{"name": "a", "parameters": [1], "fields": []}]),
            "cases[0].parameters[0] is 1; an object is needed",
        ),
        (
            document(cases=[{"name": "a", "parameters": [{}], "fields": []}]),
            "cases[0].parameters[0].name is missing",
        ),
        (
            document(
                cases=[{"name": "a", "parameters": [{"name": "b", "by_backend": 1}], "fields": []}]
            ),
            "cases[0].parameters[0].by_backend is 1; true or false is needed",
        ),
        (
            document(cases=[{"name": "a", "parameters": [], "fields": [1]}]),
            "cases[0].fields is [1]; a list of texts is needed",
        ),
    ],
)
def test_a_damaged_description_is_named_with_the_reason(
    tmp_path: Path, content: Any, reason: str
) -> None:
    file = tmp_path / "fields.json"
    file.write_text(json.dumps(content))
    with pytest.raises(UserError) as raised:
        row_fields.find(tmp_path / "rows.jsonl")
    assert str(raised.value).startswith(f"{file}: {reason}")


@pytest.mark.parametrize(
    "content", [b"{", b'{"schema": "\xff"}', b"[" * 100_000], ids=["cut", "latin-1", "deep"]
)
def test_a_description_that_is_not_json_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "fields.json").write_bytes(content)
    with pytest.raises(UserError, match=r"fields.json: not JSON: "):
        row_fields.find(tmp_path / "rows.jsonl")
