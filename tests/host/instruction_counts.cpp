// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a number of allocations and frees in a pool with a number of live blocks. Under callgrind,
// the instructions of two runs that differ only in the number of calls give the instructions of a
// call (instruction_counts.py).
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "warpheap/core/random.hpp"
#include "warpheap/host/pools/make_pool.hpp"

namespace {

// Addresses that nothing stands behind: valgrind cannot reserve as many as a million blocks need.
class imaginary_upstream final : public warpheap::host::upstream {
 public:
  void* allocate(std::size_t) override { return reinterpret_cast<void*>(std::uintptr_t{1} << 44); }
  void deallocate(void*, std::size_t) noexcept override {}
  std::string_view name() const override { return "imaginary"; }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace warpheap::host;
  if (argc != 4) {
    std::fprintf(stderr, "usage: warpheap-host-steps POLICY LIVE CALLS\n");
    return 2;
  }
  const auto live = static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const auto calls = std::strtoul(argv[3], nullptr, 10);
  const auto pool =
      make_pool(argv[1], std::make_shared<imaginary_upstream>(), std::make_shared<no_events>(),
                {.initial_bytes = std::size_t{1} << 43});
  warpheap::random_sequence random(1);
  // Sizes of 256 B to 4 MiB, as likely small as large.
  const auto size = [&] { return (256u + random.below(256)) << random.below(14); };
  std::vector<void*> blocks(live);
  for (void*& block : blocks) block = pool->allocate(size(), 256, stream_id::legacy_default);
  // Brings the holes into their steady state: the same number of calls in every run.
  const auto replace = [&](std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
      void*& block = blocks[random.below(live)];
      pool->deallocate(block, stream_id::legacy_default);
      block = pool->allocate(size(), 256, stream_id::legacy_default);
    }
  };
  replace(live);
  replace(calls);
  return 0;
}
