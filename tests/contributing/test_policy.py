# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the policy that CONTRIBUTING.md adds as its example, as the page says, and uses it.

usage: test_policy.py ROOT COMPILER

The page's two lines go into a copy of the registry, its file beside that. A program then makes the
pool by its name and checks that the new rule chooses the hole, and that no other policy is gone.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from page import example

REGISTRY = "include/warpheap/host/policies/registry.hpp"
PROGRAM = """
#include <memory>
#include <string>

#include "warpheap/host/policies/registry.hpp"
#include "warpheap/host/pools/make_pool.hpp"

// One region of addresses without memory.
class imaginary_upstream final : public warpheap::host::upstream {
 public:
  void* allocate(std::size_t) override { return reinterpret_cast<void*>(0x10000); }
  void deallocate(void*, std::size_t) noexcept override {}
  std::string_view name() const override { return "imaginary"; }
};

int main(int, char** arguments) {
  using namespace warpheap::host;
  if (policy_names() != std::string(arguments[1]) + " worst_fit") return 2;
  const auto pool = make_pool("worst_fit", std::make_shared<imaginary_upstream>(),
                              std::make_shared<no_events>(), {.initial_bytes = 1 << 16});
  void* small = pool->allocate(512, 256, stream_id::none);
  pool->allocate(256, 256, stream_id::none);
  pool->deallocate(small, stream_id::none);
  // First and best fit would take the small hole at the front.
  void* chosen = pool->allocate(512, 256, stream_id::none);
  return chosen == reinterpret_cast<void*>(0x10000 + 768) && !pool->check() ? 0 : 1;
}
"""


def main(root: Path, compiler: str) -> int:
    added = example("Add a policy of host pools")
    [(file, text)] = added.files.items()
    if Path(file).parent != Path(REGISTRY).parent:
        raise ValueError(f"{file} is not beside {REGISTRY}")
    before = (root / REGISTRY).read_text(encoding="utf-8")
    registry = added.added_to(before, "constexpr void for_each_policy", "}")
    names = re.findall(r'^  f\(named_policy<.*>\{"(\w+)"', before, re.MULTILINE)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / REGISTRY).parent.mkdir(parents=True)
        (folder / REGISTRY).write_text(registry, encoding="utf-8")
        (folder / file).write_text(text, encoding="utf-8")
        (folder / "main.cpp").write_text(PROGRAM, encoding="utf-8")
        program = folder / "program"
        subprocess.run(
            [
                compiler,
                "-std=c++20",
                f"-I{folder / 'include'}",
                f"-I{root / 'include'}",
                str(folder / "main.cpp"),
                str(root / "src/host/make_pool.cpp"),
                "-o",
                str(program),
            ],
            check=True,
        )
        return subprocess.run([str(program), " ".join(names)], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
