# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checker must accept the project's own layers and reject each planted violation."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import check_layers

PROJECT = Path(__file__).resolve().parents[2]
README = PROJECT / "include/warpheap/README.md"

# (header below include/warpheap, its text, what the checker must say)
PLANTED = [
    ("core/a.hpp", '#include "warpheap/sync/b.hpp"', "'core' includes warpheap/sync/b.hpp"),
    ("core/a.hpp", '#include "warpheap/simt/b.hpp"', "'core' includes warpheap/simt/b.hpp"),
    ("sync/a.hpp", "#  include <warpheap/heap/b.hpp>", "'sync' includes warpheap/heap/b.hpp"),
    ("heap/a.hpp", '#include "warpheap/managers/b.hpp"', "'heap' includes"),
    ("heap/a.hpp", '#include "warpheap/registry.hpp"', "'registry.hpp' is not a layer"),
    ("host/a.hpp", '#include "warpheap/sync/b.hpp"', "'host' includes warpheap/sync/b.hpp"),
    ("host/a.hpp", '#include "warpheap/managers/b.hpp"', "'host' includes"),
    ("managers/a.hpp", '#include "warpheap/host/b.hpp"', "'managers' includes"),
    ("managers/a.hpp", '#include "warpheap/managers/b.hpp"', "includes another manager"),
    ("managers/x/a.hpp", '#include "warpheap/managers/y/b.hpp"', "includes another manager"),
    ("managers/x/a.hpp", '#include "warpheap/managers/y.hpp"', "includes another manager"),
    ("simt/cpu/a.hpp", '#include "warpheap/simt/cuda/b.hpp"', "the other model's"),
    ("simt/cuda/a.hpp", '#include "warpheap/simt/cpu/b.hpp"', "the other model's"),
    ("core/a.hpp", '#include "bits.hpp"', "name headers in full"),
    ("core/a.hpp", '#include "warpheap/elsewhere/b.hpp"', "belongs to no layer"),
    ("elsewhere/a.hpp", "", "belongs to no layer"),
    ("core/a.hpp", "#include <cuda/std/bit>", "includes <cuda/std/bit>"),
    ("sync/a.hpp", "#include <cuda_runtime.h>", "includes <cuda_runtime.h>"),
    ("sync/a.hpp", "#include <cooperative_groups.h>", "includes <cooperative_groups.h>"),
    ("core/a.hpp", "#include <sstream>", "includes <sstream>"),
    ("simt/cuda/a.hpp", "#include <fstream>", "includes <fstream>"),
    ("managers/a.hpp", "#include <functional>", "includes <functional>"),
]

PLANTED_WORDS = [
    "__device__ int f();",
    "__global__ void f();",
    "__host__ int f();",
    "__shared__ int x;",
    "auto i = threadIdx.x;",
    "auto i = blockIdx.x * blockDim.x;",
    "auto m = __activemask();",
    "auto m = __ballot_sync(mask, true);",
    "x = __shfl_sync(mask, x, 0);",
    "x = __shfl_down_sync(mask, x, 1);",
    "__syncthreads();",
    "__syncwarp();",
    "__threadfence();",
    "__nanosleep(100);",
    "__trap();",
    "auto n = __popc(word);",
    "auto n = __ffsll(word);",
    "atomicAdd(&x, 1);",
    "atomicCAS(&x, 1, 2);",
    'asm volatile("trap;");',
    '__asm__("nop");',
    "cuda::atomic_ref<int> r{x};",
    "cudaMalloc(&p, 16);",
    "cudaStream_t stream;",
    "cuMemAlloc(&p, 16);",
    "CUresult r;",
    "#if defined(__CUDA_ARCH__)",
    "#ifdef __CUDACC__",
    "x = 1'000; __syncwarp();",
    '/* a */ __syncwarp(); // "',
]

ALLOWED = [
    ("core/a.hpp", '#include "warpheap/core/b.hpp"\n#include <vector>'),
    ("sync/a.hpp", '#include "warpheap/simt/b.hpp"\n#include "warpheap/core/b.hpp"'),
    ("heap/a.hpp", '#include "warpheap/sync/b.hpp"'),
    ("host/a.hpp", '#include "warpheap/simt/b.hpp"\n#include "warpheap/core/b.hpp"'),
    ("managers/a.hpp", '#include "warpheap/heap/b.hpp"'),
    ("managers/x/a.hpp", '#include "warpheap/managers/x/b.hpp"'),
    ("managers/x.hpp", '#include "warpheap/managers/x/b.hpp"'),
    ("registry.hpp", '#include "warpheap/managers/a.hpp"'),
    ("host/a.hpp", "#include <functional>\n#include <fstream>"),
    ("warpheap.hpp", '#include "warpheap/default_manager.hpp"'),
    ("simt/a.hpp", '#include "warpheap/simt/cuda/b.hpp"\n#include "warpheap/simt/cpu/b.hpp"'),
    ("simt/cuda/a.hpp", "#include <cuda/atomic>\n__device__ auto i = threadIdx.x;"),
    ("host/cuda/a.hpp", "#include <cuda_runtime.h>\nvoid f() { cudaFree(nullptr); }"),
    ("core/config.hpp", "#if defined(__CUDACC__)\n#include <cuda/std/bit>\n#endif"),
    ("sync/a.hpp", "// __shfl_sync is what CUDA calls it; don't use threadIdx here"),
    ("sync/a.hpp", "/* cudaMalloc\n   __device__ */"),
    ("sync/a.hpp", 'auto what = "cudaMalloc failed";'),
    ("heap/a.hpp", "auto d = device::cuda(0);"),
]


class CheckerTest(unittest.TestCase):
    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = Path(temporary.name)
        self.write("include/warpheap/README.md", README.read_text(encoding="utf-8"))

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def check_header(self, header: str, text: str) -> list[str]:
        """What the checker says about a tree with this header alone."""
        self.write(f"include/warpheap/{header}", text)
        try:
            return check_layers.check(self.root)
        finally:
            (self.root / "include/warpheap" / header).unlink()

    def test_each_planted_violation_is_found(self) -> None:
        for header, text, expected in PLANTED:
            with self.subTest(header=header, text=text):
                violations = self.check_header(header, text)
                self.assertEqual(len(violations), 1, violations)
                self.assertIn(expected, violations[0])
                self.assertTrue(violations[0].startswith(f"include/warpheap/{header}:1: "))

    def test_each_cuda_word_is_found_at_its_line(self) -> None:
        for word in PLANTED_WORDS:
            with self.subTest(word=word):
                violations = self.check_header("sync/a.hpp", f"// a comment\n\n{word}\n")
                self.assertTrue(violations)
                for violation in violations:
                    self.assertIn("sync/a.hpp:3: CUDA word", violation)

    def test_cuda_words_in_shared_code_outside_the_headers(self) -> None:
        for file, violations in [
            ("src/simt/cpu/executor.cpp", 1),
            ("bench/workloads/join.hpp", 1),
            ("bench/alloc.hpp", 1),
            ("bench/main.cu", 0),
            ("src/simt/cuda/driver.cpp", 0),
        ]:
            with self.subTest(file=file):
                self.write(file, "auto i = threadIdx.x;\n")
                self.assertEqual(len(check_layers.check(self.root)), violations)
                (self.root / file).unlink()

    def test_what_is_allowed_passes(self) -> None:
        for header, text in ALLOWED:
            with self.subTest(header=header, text=text):
                self.assertEqual(self.check_header(header, text), [])

    def test_a_table_that_contradicts_itself_is_refused(self) -> None:
        for table, expected in [
            ("no table", "no table row"),
            ("| `a/` | `b/` | text |\n| `b/` | nothing | text |", "not above it"),
            ("| `a/` | nothing | text |\n| `a/` | nothing | text |", "listed twice"),
            ("| `a/` | whatever | text |", "cannot read"),
        ]:
            with (
                self.subTest(table=table),
                self.assertRaisesRegex(check_layers.TableError, expected),
            ):
                check_layers.read_layers(table)

    def test_exit_codes(self) -> None:
        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            script = Path(check_layers.__file__)
            return subprocess.run(
                [sys.executable, script, *arguments], capture_output=True, text=True, check=False
            )

        self.write("include/warpheap/core/a.hpp", "int x;\n")
        self.assertEqual(run(str(self.root)).returncode, 0)
        self.write("include/warpheap/core/a.hpp", "__device__ int x;\n")
        found = run(str(self.root))
        self.assertEqual(found.returncode, 1)
        self.assertIn("core/a.hpp:1: CUDA word '__device__'", found.stdout)
        self.assertEqual(run(str(self.root / "nowhere")).returncode, 2)
        self.assertEqual(run().returncode, 2)


if __name__ == "__main__":
    unittest.main()
