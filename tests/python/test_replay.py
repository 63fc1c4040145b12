# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Logs in RMM's format, synthetic traces, and ``warpheap replay``."""

import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from warpheap import native
from warpheap.commands import replay as command
from warpheap.errors import UserError
from warpheap.traces import replay, resources, rmm_log, synthetic
from warpheap.traces.trace import Trace

needs_library = pytest.mark.skipif(native.find() is None, reason="the library is not built")

LINES = """Thread,Time,Action,Pointer,Size,Stream
7,10:00:00.000001,allocate,0x7f00,1000,0
7,10:00:00.000002,allocate,0x8f00,24,0x55aa
7,10:00:00.000003,free,0x7f00,1000,0
7,10:00:00.000004,allocate failure,(nil),99999999,0
7,10:00:00.000005,free,0xdead00,16,0
7,10:00:00.000006,allocate,0x7f00,500,0
"""


def test_a_log_is_read(tmp_path: Path) -> None:
    file = tmp_path / "small.csv"
    file.write_text(LINES)
    trace = rmm_log.read(file)
    assert trace.name == "small"
    assert trace.operations.tolist() == [1000, 24, -1, 500]
    assert trace.streams.tolist() == [0, 0x55AA, 0, 0]
    assert trace.unmatched_frees == 1
    assert trace.peak_bytes() == 1024
    assert trace.peak_bytes(256) == 1024 + 256


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.xz"])
def test_what_is_written_is_read_again(tmp_path: Path, suffix: str) -> None:
    trace = synthetic.make("malloc-large-log", 20, 500, seed=3)
    trace = Trace(trace.name, trace.operations, trace.streams + np.uint64(0xAB00), trace.warm_up)
    file = tmp_path / f"made{suffix}"
    rmm_log.write(trace, file)
    again = rmm_log.read(file)
    assert again.name == "made"
    assert np.array_equal(again.operations, trace.operations)
    assert np.array_equal(again.streams, trace.streams)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7,10:00:00.000002,allocate,0x7f00,1000,0", "in use already"),
        ("7,10:00:00.000002,allocate,block,5,0", "'block' is not a pointer"),
        ("7,10:00:00.000002,free,block,5,0", "'block' is not a pointer"),
        ("7,10:00:00.000002,allocate failure,block,5,0", "'block' is not a pointer"),
        ("7,10:00:00.000002,allocate,,5,0", "'' is not a pointer"),
        ("7,10:00:00.000002,allocate,-5,5,0", "'-5' is not a pointer"),
        ("7,10:00:00.000002,allocate,0x7_f,5,0", "'0x7_f' is not a pointer"),
        ("7,10:00:00.000002,allocate,0x10000000000000000,5,0", "is not a pointer"),
        ("7,10:00:00.000002,allocate,0x7\udcff,5,0", r"'0x7\xff' is not a pointer"),
        (
            "7,10:00:00.000002,free,0x7f00,999,0",
            "freed with 999 bytes, but it was allocated with 1000",
        ),
        ("7,10:00:00.000002,allocate,0x9f00,-5,0", "'-5' is not a size"),
        ("7,10:00:00.000002,allocate,0x9f00,99999999999999999999,0", "is not a size"),
        ("7,10:00:00.000002,allocate,0x9f00,\u0661\u0660,0", "is not a size"),
        ("7,10:00:00.000002,free,0xdead00,many,0", "'many' is not a size"),
        ("7,10:00:00.000002,resize,0x9f00,5,0", "unknown action 'resize'"),
        ("7,10:00:00.000002,allocate,0x9f00", "4 fields"),
        ("7,10:00:00.000002,allocate,0x9f00,5,blue", "'blue' is not a stream"),
        ("7,10:00:00.000002,allocate,0x9f00,5,-1", "'-1' is not a stream"),
        ("7,10:00:00.000002,allocate,0x9f00,5,0x10000000000000000", "is not a stream"),
        ("7,10:00:00.000002,free,0xdead00,5,blue", "'blue' is not a stream"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "bad.csv"
    text = "\n".join([*LINES.splitlines()[:2], line, ""])
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserError) as caught:
        rmm_log.read(file)
    assert str(caught.value).startswith(f"{file}:3: ")
    assert reason in str(caught.value)


def test_a_double_free_is_named(tmp_path: Path) -> None:
    file = tmp_path / "twice.csv"
    lines = LINES.splitlines()
    file.write_text("\n".join([*lines[:4], lines[3], ""]))
    with pytest.raises(UserError, match=r":5: 0x7f00 is freed a second time"):
        rmm_log.read(file)


def test_a_double_free_of_what_was_allocated_before_the_log_is_named(tmp_path: Path) -> None:
    file = tmp_path / "twice.csv"
    free = "7,10:00:00.000003,free,0xdead00,16,0"
    file.write_text("\n".join([*LINES.splitlines()[:2], free, free, ""]))
    with pytest.raises(UserError, match=r":4: 0xdead00 is freed a second time"):
        rmm_log.read(file)
    # Between two frees, the address may be handed out again.
    again = free.replace("free", "allocate")
    file.write_text("\n".join([*LINES.splitlines()[:2], free, again, free, ""]))
    assert rmm_log.read(file).unmatched_frees == 1
    # Null may be freed as often as one likes.
    null = free.replace("0xdead00", "(nil)")
    file.write_text("\n".join([*LINES.splitlines()[:2], null, null, ""]))
    assert rmm_log.read(file).unmatched_frees == 0


def halves_of_a_log() -> list[bytes]:
    lines = LINES.encode().splitlines(keepends=True)
    return [b"".join(lines[:3]), b"".join(lines[3:])]


@pytest.mark.parametrize(
    "suffix, compress, between, behind",
    [
        (".gz", gzip.compress, b"", b""),
        (".gz", gzip.compress, b"\0" * 3, b"\0" * 512),
        (".xz", lzma.compress, b"", b""),
        (".xz", lzma.compress, b"\0" * 8, b""),
        (".xz", lzma.compress, b"", b"\0" * 4),
    ],
)
def test_all_parts_of_an_archive_are_read(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes], between: bytes, behind: bytes
) -> None:
    whole = tmp_path / "whole.csv"
    whole.write_text(LINES)
    first, second = map(compress, halves_of_a_log())
    archive = tmp_path / f"parts.csv{suffix}"
    archive.write_bytes(first + between + second + behind)
    assert np.array_equal(rmm_log.read(archive).operations, rmm_log.read(whole).operations)


@pytest.mark.parametrize("suffix, compress", [(".gz", gzip.compress), (".xz", lzma.compress)])
def test_what_follows_the_first_part_of_an_archive_is_not_ignored(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    first, second = map(compress, halves_of_a_log())
    damaged = bytes([second[0] ^ 0xFF]) + second[1:]
    archive = tmp_path / f"parts.csv{suffix}"
    for rest in (damaged, second[:1], second[:-1], b"\0\0\0\0" + damaged, b"more"):
        archive.write_bytes(first + rest)
        with pytest.raises(UserError, match="damaged compressed file"):
            rmm_log.read(archive)


def test_padding_of_an_xz_archive_is_a_multiple_of_four(tmp_path: Path) -> None:
    archive = tmp_path / "padded.csv.xz"
    first, second = map(lzma.compress, halves_of_a_log())
    for rest in (b"\0" * 3, b"\0" * 6 + second):
        archive.write_bytes(first + rest)
        with pytest.raises(UserError, match=r"damaged compressed file: \d zeros after a stream"):
            rmm_log.read(archive)


def test_damaged_and_foreign_files_are_refused(tmp_path: Path) -> None:
    short = tmp_path / "short.csv.gz"
    short.write_bytes(gzip.compress(LINES.encode())[:-9])
    with pytest.raises(UserError, match="damaged compressed file"):
        rmm_log.read(short)
    broken = tmp_path / "broken.csv.xz"
    broken.write_bytes(lzma.compress(LINES.encode())[:40])
    with pytest.raises(UserError, match="damaged compressed file"):
        rmm_log.read(broken)
    middle = bytearray(gzip.compress(LINES.encode()))
    middle[25] ^= 0xFF
    flipped = tmp_path / "flipped.csv.gz"
    flipped.write_bytes(middle)
    nothing = tmp_path / "nothing.csv.gz"
    nothing.write_bytes(b"")
    other = tmp_path / "other.csv.xz"
    other.write_bytes(gzip.compress(LINES.encode()))
    for file in (flipped, nothing, other):
        with pytest.raises(UserError, match="damaged compressed file"):
            rmm_log.read(file)
    # A line that is wrong long before the checksum that says why.
    wrong = LINES.replace("0x8f00", "x") + "7,10:00:00.000007,free,0xdead00,16,0\n" * 100_000
    late = bytearray(gzip.compress(wrong.encode()))
    late[-8] ^= 0xFF
    checksum = tmp_path / "checksum.csv.gz"
    checksum.write_bytes(late)
    with pytest.raises(UserError, match="damaged compressed file"):
        rmm_log.read(checksum)
    headless = tmp_path / "headless.csv"
    headless.write_text(LINES.split("\n", 1)[1])
    with pytest.raises(UserError, match=r":1: the header"):
        rmm_log.read(headless)
    empty = tmp_path / "empty.csv"
    empty.write_text(LINES.split("\n", 1)[0] + "\n")
    with pytest.raises(UserError, match="no allocation"):
        rmm_log.read(empty)


def test_synthetic_traces_are_what_they_say() -> None:
    trace = synthetic.make("malloc-large", 50, 20_000, seed=1)
    sizes = trace.operations[trace.asks]
    assert sizes.min() >= 1 << 10
    assert sizes.max() <= 16 << 20
    assert abs(sizes.mean() / (8 * (1 << 20)) - 1) < 0.05
    live = np.cumsum(np.where(trace.asks, 1, -1))
    assert live.max() <= 50
    assert 20 <= np.median(live) <= 30
    assert trace.warm_up == 2000
    freed = -1 - trace.operations[~trace.asks]
    assert len(np.unique(freed)) == len(freed), "nothing is freed twice"
    logarithmic = synthetic.make("malloc-large-log", 50, 20_000, seed=1)
    assert abs(np.log2(logarithmic.operations[logarithmic.asks]).mean() - 17) < 0.3
    same = synthetic.make("malloc-large", 50, 20_000, seed=1)
    assert np.array_equal(same.operations, trace.operations)


@needs_library
def test_replay_compares_resources_and_draws(run, tmp_path: Path) -> None:
    rows_file, figure, written = (tmp_path / name for name in ("rows.jsonl", "f.svg", "t.csv.xz"))
    done = run(
        "replay", "malloc-large", "--live", "20", "--events", "2000", "--upstream", "reserved",
        "--resource", "tlsf", "--resource", "best_fit", "--resource", "rmm_pool", "--smallest",
        "--threads", "2", "--out", str(rows_file), "--plot", str(figure), "--json",
        "--write-trace", str(written),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows == [json.loads(line) for line in rows_file.read_text().splitlines()]
    assert [replay.DESCRIBED.fault(row) for row in rows] == [None] * 3
    tlsf, best_fit, peer = rows
    assert [row["manager"] for row in rows] == ["tlsf", "best_fit", "rmm_pool"]
    for row in (tlsf, best_fit):
        assert row["status"] == "ok"
        assert row["backend"] == "cpu"
        assert row["events"] == 2000
        assert 0 < row["malloc_ns"]["p50"] <= row["malloc_ns"]["p99.9"] <= row["malloc_ns"]["max"]
        assert row["free_ns"]["p50"] > 0
        assert 1 <= row["span_over_peak"] < 2
        assert row["peak_bytes"] <= row["smallest_pool_bytes"] < 2 * row["peak_bytes"]
        assert row["calls_per_second"] > 0
        assert row["threads_null_returns"] == 0
    assert peer["status"] == "skipped"
    assert peer["reason"]
    text = figure.read_text()
    assert "<svg" in text
    assert "best_fit" in text or "path" in text
    assert rmm_log.read(written).events == 2000


@needs_library
@pytest.mark.parametrize("options, device", [((), 0), (("--device", "3"), 3)])
def test_a_replay_is_on_the_device_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], device: int
) -> None:
    asked: list[int] = []

    def measured(trace: Trace, resource: resources.Resource, request: replay.Request) -> replay.Row:
        asked.append(resource.device)
        return {"manager": resource.name, "status": "ok"}

    monkeypatch.setattr(replay, "measure", measured)
    app = typer.Typer()
    command.register(app)
    wanted = ["malloc-large", "--events", "100", "--upstream", "cuda_malloc", "--json", *options]
    done = CliRunner().invoke(app, wanted)
    assert done.exit_code == 0, done.output
    assert asked == [device]


@needs_library
def test_a_pool_in_parts_is_replayed_in_threads(run) -> None:
    done = run(
        "replay", "malloc-large", "--live", "20", "--events", "500", "--upstream", "reserved",
        "--resource", "tlsf", "--resource", "tlsf_in_2_parts", "--threads", "3", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    whole, in_parts = (json.loads(line) for line in done.stdout.splitlines())
    assert in_parts["manager"] == "tlsf_in_2_parts"
    assert in_parts["calls_per_second"] > 0
    # Each part starts with what a pool of one thread starts with, and needs no more.
    assert in_parts["initial_bytes"] == 2 * whole["initial_bytes"]
    assert in_parts["reserved_bytes"] == 2 * whole["reserved_bytes"]
    assert (in_parts["null_returns"], in_parts["threads_null_returns"]) == (0, 0)


@needs_library
def test_replay_prints_a_table(run, tmp_path: Path) -> None:
    file = tmp_path / "small.csv"
    file.write_text(LINES)
    done = run("replay", str(file), "--upstream", "reserved")
    assert done.returncode == 0, done.stderr
    assert "tlsf" in done.stdout
    assert "1 frees of memory" in done.stderr


@needs_library
@pytest.mark.parametrize("policy", ["tlsf", "segregated_fit", "slabs_over_tlsf", "best_fit"])
def test_a_real_program_is_replayed(run, policy: str) -> None:
    file = Path(__file__).parents[1] / "data" / "torch_training.csv"
    done = run("replay", str(file), "--resource", policy, "--upstream", "reserved", "--smallest",
               "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "8 frees of memory" in done.stderr, "of blocks that are older than the excerpt"
    row = json.loads(done.stdout)
    assert row["null_returns"] == 0
    assert row["events"] == 392
    assert row["smallest_pool_bytes"] < 1.25 * row["peak_bytes"]


@needs_library
def test_a_pool_that_is_too_small_is_a_failure(run) -> None:
    done = run(
        "replay", "malloc-large", "--live", "20", "--events", "200", "--upstream", "reserved",
        "--limit-bytes", "20000000", "--json",
    )  # fmt: skip
    assert done.returncode == 1
    row = json.loads(done.stdout)
    assert row["status"] == "failed"
    assert row["null_returns"] > 0


@needs_library
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["malloc-larg"], "did you mean 'malloc-large'"),
        (["malloc-large", "--resource", "tslf"], "did you mean 'tlsf'"),
        (["malloc-large", "--resource", "tslf_in_2_parts"], "did you mean 'tlsf'"),
        (["malloc-large", "--resource", "tlsf_in_1025_parts"], "a pool has at most 1024 parts"),
        (["malloc-large", "--resource", "rmm_pool_in_2_parts"], "rmm_pool is not one of our pools"),
        (["malloc-large", "--upstream", "gpu"], "known upstreams: host"),
        (["/nowhere/x.csv"], "/nowhere/x.csv"),
        (["malloc-large", "--seed", "-1"], "-1 is not in the range x>=0"),
        (["malloc-large", "--plot", "x.foo"], "x.foo: a figure's name ends in .png, .svg, .pdf"),
        (["malloc-large", "--events", "20000000000000"], "is not in the range 10<=x<=100000000"),
        (["malloc-large", "--initial-bytes", str(2**64)], f"{2**64} is not in the range"),
        (["malloc-large", "--limit-bytes", str(2**64)], f"{2**64} is not in the range"),
    ],
)
def test_bad_arguments_are_named(run, arguments: list[str], message: str) -> None:
    done = run("replay", *arguments)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())


@needs_library
def test_a_replay_that_measured_nothing_fails(run) -> None:
    done = run("replay", "malloc-large", "--resource", "rmm_pool", "--events", "100", "--json")
    assert json.loads(done.stdout)["status"] == "skipped"
    assert done.returncode == 1


def test_importing_the_bindings_needs_no_framework() -> None:
    import warpheap.cupy  # noqa: PLC0415
    import warpheap.numba  # noqa: PLC0415
    import warpheap.rmm  # noqa: PLC0415
    import warpheap.torch  # noqa: PLC0415

    for module in (warpheap.cupy, warpheap.numba, warpheap.torch):
        assert callable(module.use)
    assert callable(warpheap.rmm.resource)


def test_replaying_from_a_program_needs_nothing_that_the_tool_prints_with() -> None:
    without = "import sys; sys.modules.update(typer=None, rich=None); "
    modules = "warpheap.process, warpheap.traces.replay, warpheap.traces.rmm_log"
    command = [sys.executable, "-c", f"{without}import {modules}, warpheap.traces.synthetic"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


def test_a_missing_library_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "find", lambda: None)
    native.library.cache_clear()
    with pytest.raises(native.LibraryMissing, match="warpheap_c"):
        native.library()
    native.library.cache_clear()
