# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graph files: every format and compression, the counts, and the line of every fault."""

import gzip
import io
import lzma
import tarfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warpheap import graphs
from warpheap.errors import UserError
from warpheap.graphs import csr, limits

# A triangle 1-2-3, an edge 3-4, and node 5 alone; with a loop and a repeat where a format has them.
MTX = """%%MatrixMarket matrix coordinate pattern symmetric
% a comment
5 5 6
2 1
3 1
3 2
4 3
4 4
3 1
"""
METIS = """% a comment
5 4
2 3
1 3
1 2 4
3

"""
EDGES = "# a comment\n10 20\n10\t30 1700000000\n20 30\n30 40\n40 30\n40 40\n"
OFFSETS = [0, 2, 4, 7, 8, 8]
NEIGHBOURS = [1, 2, 0, 2, 0, 1, 3, 2]


def load(
    tmp_path: Path, name: str, content: str | bytes
) -> tuple[graphs.Graph, list[int], list[int]]:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    graph = graphs.load(path, tmp_path / "csr")
    offsets, neighbours = csr.read(graph.csr_file)
    return graph, offsets.tolist(), neighbours.tolist()


def fault(tmp_path: Path, name: str, content: str | bytes) -> str:
    with pytest.raises(UserError) as caught:
        load(tmp_path, name, content)
    assert caught.value.exit_code == 2
    return str(caught.value).removeprefix(f"{tmp_path}/")


@pytest.mark.parametrize(
    "name, nodes, edges, most", [("1138_bus", 1138, 1458, 17), ("email", 1133, 5451, 71)]
)
def test_shipped_graphs_have_the_counts_of_their_readme(
    tmp_path: Path, name: str, nodes: int, edges: int, most: int
) -> None:
    path = next(path for path in graphs.shipped() if path.stem == name)
    graph = graphs.load(path, tmp_path)
    offsets, _ = csr.read(graph.csr_file)
    assert (graph.name, graph.nodes, graph.edges) == (name, nodes, edges)
    assert int(np.diff(offsets.astype(np.int64)).max()) == most
    readme = (path.parent / "README.md").read_text()
    assert f"| {nodes:,} | {edges:,} |" in readme


def test_shipped_graph_is_found_by_its_name(tmp_path: Path) -> None:
    assert graphs.load(Path("email.mtx"), tmp_path).edges == 5451


@pytest.mark.parametrize(
    "name, content",
    [
        ("g.mtx", MTX),
        ("g.txt", MTX),
        ("g.graph", METIS),
        ("g.metis", METIS.replace("5 4\n", "5 4 000\n")),
        ("g.mtx.gz", gzip.compress(MTX.encode(), mtime=0)),
        ("g.graph.xz", lzma.compress(METIS.encode())),
        ("crlf.mtx", MTX.replace("\n", "\r\n")),
    ],
)
def test_formats_give_the_same_graph(tmp_path: Path, name: str, content: str | bytes) -> None:
    graph, offsets, neighbours = load(tmp_path, name, content)
    assert (graph.nodes, graph.edges) == (5, 4)
    assert (offsets, neighbours) == (OFFSETS, NEIGHBOURS)


@pytest.mark.parametrize(
    "name, content",
    [
        ("g.txt", EDGES),
        ("g.csv", "source,target,time\n" + "10, 20,1\n10,30,2\n20,30,3\n30,40,4\n"),
        ("g.edges", "% KONECT\n5 7\n5 9\n7 9\n9 11"),
        ("g.txt.gz", gzip.compress(EDGES.encode(), mtime=0)),
    ],
)
def test_edge_lists_number_nodes_by_rank(tmp_path: Path, name: str, content: str | bytes) -> None:
    graph, offsets, neighbours = load(tmp_path, name, content)
    assert (graph.nodes, graph.edges) == (4, 4)
    assert (offsets, neighbours) == (OFFSETS[:-1], NEIGHBOURS)


@pytest.mark.parametrize(
    "header, lines",
    [
        ("3 2 1", ["2 7", "1 7 3 8", "2 8"]),
        ("3 2 10", ["4 2", "5 1 3", "6 2"]),
        ("3 2 11 2", ["4 4 2 7", "5 5 1 7 3 8", "6 6 2 8"]),
        ("3 2 100", ["9 2", "9 1 3", "9 2"]),
        ("3 2 111", ["9 4 2 7", "9 5 1 7 3 8", "9 6 2 8"]),
    ],
)
def test_metis_weights_are_skipped(tmp_path: Path, header: str, lines: list[str]) -> None:
    _, offsets, neighbours = load(tmp_path, "g.graph", "\n".join([header, *lines]))
    assert (offsets, neighbours) == ([0, 1, 3, 4], [1, 0, 2, 1])


def tarball(members: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    return buffer.getvalue()


def test_tarball_with_one_graph(tmp_path: Path) -> None:
    content = tarball({"g/g.mtx": MTX, "g/README.txt": "not a graph"})
    assert load(tmp_path, "g.tar.gz", content)[0].edges == 4
    content = tarball({"g/g.mtx": MTX, "g/g_coord.mtx": "other"})
    assert load(tmp_path, "g.tar.gz", content)[0].edges == 4


def test_tarball_that_cannot_be_decided(tmp_path: Path) -> None:
    assert "several graphs: a.mtx, b.mtx" in fault(
        tmp_path, "g.tar.gz", tarball({"a.mtx": MTX, "b.mtx": MTX})
    )
    assert "holds no graph; its members: a.pdf" in fault(
        tmp_path, "g.tar.gz", tarball({"a.pdf": ""})
    )


BANNER = "%%MatrixMarket matrix coordinate real general\n"
FAULTS = [
    ("g.mtx", "hello\n", "g.mtx:1: 'hello' is not a Matrix Market banner"),
    ("g.mtx", "", "g.mtx:1: '' is not a Matrix Market banner"),
    ("g.mtx", BANNER.replace("real", "nice") + "1 1 1\n1 1 1\n", "g.mtx:1: unknown field"),
    (
        "g.mtx",
        "%%MatrixMarket matrix array real general\n1 1\n1\n",
        "g.mtx:1: a graph needs a 'coordinate' matrix, not 'array'",
    ),
    ("g.mtx", BANNER + "% c\n3 3\n", "g.mtx:3: expected 'rows columns entries': '3 3'"),
    ("g.mtx", BANNER + "3 4 1\n1 1 1\n", "g.mtx:2: the matrix is 3 x 4"),
    ("g.mtx", BANNER + "3 3 2\n1 1 1\n", "g.mtx:3: the file ends after 1 of 2 entries"),
    ("g.mtx", BANNER + "3 3 1\n1 1 1\n2 2 1\n", "g.mtx:4: more entries than the 1"),
    ("g.mtx", BANNER + "3 3 2\n1 1 1\n4 1 1\n", "g.mtx:4: the row 4 is not within 1..3: '4 1 1'"),
    ("g.mtx", BANNER + "3 3 2\n1 1 1\n1 0 1\n", "g.mtx:4: the column 0 is not within 1..3"),
    ("g.mtx", BANNER + "3 3 2\n1 1 1\n1 x 1\n", "g.mtx:4: the column is not a whole number"),
    ("g.mtx", BANNER + "3 3 2\n1 1 1\n1 2\n", "g.mtx:4: expected 3 fields, found 2: '1 2'"),
    ("g.mtx", BANNER + "3 3 1\n1 2 much\n", "g.mtx:3: the value is not a number"),
    ("g.graph", "", "g.graph:1: expected 'nodes edges [fmt [ncon]]': ''"),
    ("g.graph", "% c\n3 x\n", "g.graph:2: expected 'nodes edges"),
    ("g.graph", "3 2 7\n", "g.graph:1: fmt must be three digits 0 or 1, not 7"),
    ("g.graph", "3 2\n2\n1 3\n", "g.graph:3: the file ends after 2 of 3 nodes"),
    ("g.graph", "3 2\n2\n1 4\n2\n", "g.graph:3: neighbour 4 is not within 1..3"),
    (
        "g.graph",
        "3 2\n2\n1 b\n2\n",
        "g.graph:3: 'b' is not a whole number up to 9223372036854775807",
    ),
    (
        "g.graph",
        "3 2\n2\n1 99999999999999999999\n2\n",
        "g.graph:3: '9999",
    ),
    (
        "g.graph",
        "3 3\n2\n1 3\n2\n",
        "g.graph:1: declares 3 edges, that is 6 entries; the nodes list 4",
    ),
    ("g.graph", "2 1\n2\n1\n\n1\n", "g.graph:5: more lines than the 2 nodes"),
    ("g.graph", "2 1 1\n2 7 9\n1 7\n", "g.graph:2: 3 numbers do not fit fmt"),
    ("g.txt", "", "g.txt:1: has no edges"),
    ("g.txt", "# only\n# comments\n", "g.txt:1: has no edges"),
    ("g.txt", "# c\n1 2\n3\n", "g.txt:3: expected two node ids: '3'"),
    (
        "g.txt",
        "1 2\n3 b\n",
        "g.txt:2: 'b' is not a node id (a whole number from 0 to 9223372036854775807)",
    ),
    (
        "g.txt",
        "1 2\n3 4.5\n",
        "g.txt:2: '4.5' is not a node id (a whole number from 0 to 9223372036854775807)",
    ),
    ("g.txt", "1 2\n1 99999999999999999999\n", "g.txt:2: '99999999999999999999' is not a node id"),
    (
        "g.csv",
        "a,b\n1,2\n3,\n",
        "g.csv:3: '' is not a node id (a whole number from 0 to 9223372036854775807)",
    ),
    ("g.mtx.gz", gzip.compress(MTX.encode(), mtime=0)[:-12], "g.mtx.gz: damaged compressed file"),
    ("g.mtx.xz", b"no xz at all", "g.mtx.xz: damaged compressed file"),
    ("g.tar.gz", b"no tar at all", "g.tar.gz: damaged compressed file"),
    (
        "g.mtx.gz",
        gzip.compress(b"hello\n", mtime=0),
        "g.mtx.gz:1: 'hello' is not a Matrix Market banner",
    ),
    (
        "g.mtx",
        BANNER + "99999999999 99999999999 1\n1 2 1\n",
        "g.mtx:2: 99999999999 nodes; at most 4",
    ),
    (
        "g.mtx",
        BANNER + "9 9 99999999999999999999\n1 2 1\n",
        "g.mtx:3: the file ends after 1 of 9999",
    ),
    ("g.mtx", BANNER + "9 9 " + "9" * 5000 + "\n", "g.mtx:2: expected 'rows columns entries'"),
    ("g.mtx", BANNER + "9 9 ²\n", "g.mtx:2: expected 'rows columns entries'"),
    ("g.mtx", BANNER + "0 0 0\n", "g.mtx:2: the graph has no edges (loops do not count)"),
    ("g.mtx", BANNER + "3 3 1\n2 2 1\n", "g.mtx:2: the graph has no edges"),
    ("g.txt", "# c\n1 1\n", "g.txt:2: the graph has no edges"),
    (
        "g.txt",
        "1 2\n\n3 -4\n",
        "g.txt:3: '-4' is not a node id (a whole number from 0 to 9223372036854775807)",
    ),
    ("g.csv", "-1,-2\n3,4\n", "g.csv:1: '-1' is not a node id (a whole number from 0"),
    ("g.graph", "99999999999999 1\n2\n1\n", "g.graph:1: 99999999999999 nodes; at most 4294967296"),
    ("g.graph", "2 0\n\n\n", "g.graph:1: the graph has no edges"),
    (
        "g.graph",
        "3 1\n% c\n2 3\n\n\n",
        "g.graph:3: the edge 1 2 is listed by node 1 only; node 2 (line 4) must list it, too",
    ),
    ("g.graph", "3 2\n2\n1 3\n1\n", "g.graph:3: the edge 2 3 is listed by node 2 only"),
    (
        "g.tar.gz",
        gzip.compress(b"no tar" * 999, mtime=0),
        "g.tar.gz: damaged compressed file: not a readable tar archive",
    ),
]


@pytest.mark.parametrize("name, content, message", FAULTS)
def test_malformed_files_name_file_line_and_reason(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    found = fault(tmp_path, name, content)
    assert found.startswith(message)
    assert "\n" not in found


@pytest.mark.parametrize(
    "name, content, counts",
    [
        ("g.mtx", BANNER + "4000000000 4000000000 1\n1 2 1\n", "4000000000 nodes and 1 entries"),
        ("g.graph", "4000000000 1\n2\n1\n", "4000000000 nodes"),
    ],
)
def test_a_graph_that_memory_cannot_hold_is_refused_before_memory_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, counts: str
) -> None:
    monkeypatch.setattr(limits, "memory_bytes", lambda: 16 << 30)
    message = fault(tmp_path, name, content)
    line = 2 if name == "g.mtx" else 1
    assert message.startswith(f"{name}:{line}: {counts} need 96000")
    assert message.endswith("of memory to be read; this machine has 17179869184")


def test_memory_that_is_exhausted_all_the_same_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(csr, "simple_undirected", fail)
    assert "g.mtx: does not fit into the memory" in fault(tmp_path, "g.mtx", MTX)


def test_a_path_that_is_not_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "dir.mtx").mkdir()
    with pytest.raises(UserError, match=r"dir\.mtx: is a folder; a file is needed"):
        graphs.load(tmp_path / "dir.mtx", tmp_path)
    with pytest.raises(UserError, match=r"/dev/null: is not a regular file"):
        graphs.load(Path("/dev/null"), tmp_path)


def test_a_folder_that_cannot_be_written_names_its_option(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    message = f"{tmp_path}/taken/graphs: Not a directory; .* --out names another folder"
    with pytest.raises(UserError, match=message):
        graphs.load(Path("email"), tmp_path / "taken" / "graphs", "--out")


def test_missing_file_names_the_shipped_graphs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such file; shipped graphs: 1138_bus\.mtx, email\.mtx"):
        graphs.load(Path("nowhere.mtx"), tmp_path)


def test_csr_file_has_the_promised_bytes(tmp_path: Path) -> None:
    graph, _, _ = load(tmp_path, "g.graph", METIS)
    expected = b"WHCSR\0\0\x01" + np.array([5, 8, *OFFSETS], "<u8").tobytes()
    assert graph.csr_file.read_bytes() == expected + np.array(NEIGHBOURS, "<u4").tobytes()


@pytest.mark.parametrize(
    "content", [b"", b"WHCSR\0\0\x02" + bytes(16), b"WHCSR\0\0\x01" + bytes(16)]
)
def test_damaged_csr_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "g.csr").write_bytes(content)
    with pytest.raises(UserError, match=r"g\.csr: "):
        csr.read(tmp_path / "g.csr")


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=300))
@settings(max_examples=100, deadline=None)
def test_simple_undirected_graph_equals_a_dictionary_of_sets(pairs: list[tuple[int, int]]) -> None:
    neighbours: list[set[int]] = [set() for _ in range(41)]
    for a, b in pairs:
        if a != b:
            neighbours[a].add(b)
            neighbours[b].add(a)
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    offsets, found = csr.simple_undirected(csr.Edges(41, array[:, 0], array[:, 1]))
    assert len(offsets) == 42
    for node, expected in enumerate(neighbours):
        assert found[int(offsets[node]) : int(offsets[node + 1])].tolist() == sorted(expected)
