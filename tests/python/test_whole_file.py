# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written anew keeps its old content until the new one is complete."""

import multiprocessing
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from test_report import row
from warpheap import published, whole_file
from warpheap.graphs import csr
from warpheap.row_fields import Description, Field


@pytest.fixture
def full_disk() -> Iterator[Callable[[], None]]:
    """Return a function after which no file grows beyond 2 KiB, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def described(count: int) -> Description:
    return Description({f"field_{n}": Field(f"field_{n}") for n in range(count)})


def test_published_rows_survive_a_full_disk(tmp_path: Path, full_disk: Callable[[], None]) -> None:
    published.file_rows([row()], tmp_path)
    described(1).write(tmp_path)
    before = {file: file.read_text() for file in tmp_path.rglob("*") if file.is_file()}
    full_disk()
    with pytest.raises(OSError, match="File too large"):
        published.file_rows([row(threads=threads) for threads in range(1, 50)], tmp_path)
    with pytest.raises(OSError, match="File too large"):
        described(100).write(tmp_path)
    after = {file: file.read_text() for file in tmp_path.rglob("*") if file.is_file()}
    assert len(before) == 2
    assert after == before


def write_graph(file: Path) -> None:
    csr.write(file, np.array([0, 1, 2], np.uint64), np.array([1, 0], np.uint32))


def test_two_processes_may_convert_one_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one is as fast as it can be: it is done just before the first one is."""
    file, replace = tmp_path / "graph.csr", Path.replace

    def after_the_other(partial: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        other = multiprocessing.get_context("fork").Process(target=write_graph, args=(file,))
        other.start()
        other.join()
        assert other.exitcode == 0
        return replace(partial, target)

    monkeypatch.setattr(Path, "replace", after_the_other)
    write_graph(file)
    assert [len(part) for part in csr.read(file)] == [3, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["graph.csr"]


def test_what_an_interrupt_leaves_is_removed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole_file.replacing(tmp_path / "file") as out:
        out.write(b"half")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
