# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds the policy that CONTRIBUTING.md adds as its example, as the page says, and uses it.

usage: test_policy.py ROOT COMPILER

The page's two lines go into a copy of the registry, its file beside that. A program checks that the
registry names one policy more, and that no other is gone. Another makes the pool by its name and
checks that the new rule chooses the hole. Pools of all policies would take a quarter of a minute to
compile, so that one has a registry of the new entry alone.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from page import example

NAME = "worst_fit"
REGISTRY = "include/warpheap/host/policies/registry.hpp"
ENTRY = re.compile(r'^  f\(named_policy<.*>\{"(\w+)".*\n', re.MULTILINE)
NAMES = """
#include "warpheap/host/policies/registry.hpp"

int main(int, char** arguments) {
  return warpheap::host::policy_names() == arguments[1] ? 0 : 2;
}
"""
POOL = """
#include <memory>

#include "warpheap/host/pools/make_pool.hpp"

// One region of addresses without memory.
class imaginary_upstream final : public warpheap::host::upstream {
 public:
  void* allocate(std::size_t) override { return reinterpret_cast<void*>(0x10000); }
  void deallocate(void*, std::size_t) noexcept override {}
  std::string_view name() const override { return "imaginary"; }
};

int main() {
  using namespace warpheap::host;
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


def built(folder: Path, root: Path, compiler: str, program: str, *sources: Path) -> Path:
    """A program of this text and sources, compiled with the folder's headers before the tree's."""
    (folder / "main.cpp").write_text(program, encoding="utf-8")
    include = (f"-I{folder / 'include'}", f"-I{root / 'include'}")
    command = (compiler, "-std=c++20", *include, folder / "main.cpp", *sources)
    subprocess.run([*command, "-o", folder / "program"], check=True)
    return folder / "program"


def main(root: Path, compiler: str) -> int:
    added = example("Add a policy of host pools")
    [(file, text)] = added.files.items()
    if Path(file).parent != Path(REGISTRY).parent:
        raise ValueError(f"{file} is not beside {REGISTRY}")
    before = (root / REGISTRY).read_text(encoding="utf-8")
    registry = added.added_to(before, "constexpr void for_each_policy", "}")
    names = [*ENTRY.findall(before), NAME]
    alone = ENTRY.sub(lambda entry: entry[0] if entry[1] == NAME else "", registry)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / REGISTRY).parent.mkdir(parents=True)
        (folder / file).write_text(text, encoding="utf-8")
        (folder / REGISTRY).write_text(registry, encoding="utf-8")
        program = built(folder, root, compiler, NAMES)
        named = subprocess.run([program, " ".join(names)], check=False).returncode
        (folder / REGISTRY).write_text(alone, encoding="utf-8")
        program = built(folder, root, compiler, POOL, root / "src/host/make_pool.cpp")
        return named or subprocess.run([program], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
