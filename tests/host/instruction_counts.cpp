// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a number of allocations and frees in a pool with a number of live blocks. Callgrind counts
// the instructions of these calls, and of nothing before them (instruction_counts.py).
#include "bench/host/argument_checks.hpp"

#include <valgrind/callgrind.h>
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "warpheap/core/random.hpp"
#include "warpheap/host/policies/registry.hpp"
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
  using warpheap::bench::whole;
  std::vector<std::string> known;
  for_each_policy([&](auto policy) { known.emplace_back(policy.name); });
  std::string policy;
  std::uint32_t live = 0;
  std::uint32_t calls = 0;
  constexpr std::uint64_t most = 1'000'000'000;
  CLI::App app("Makes a number of allocations and frees in a pool with a number of live blocks.");
  app.add_option("POLICY", policy)->required()->check(CLI::IsMember(known));
  app.add_option("LIVE", live)->required()->check(whole(1, most));
  app.add_option("CALLS", calls)->required()->check(whole(0, most));
  CLI11_PARSE(app, argc, argv);
  const auto pool =
      make_pool(policy, std::make_shared<imaginary_upstream>(), std::make_shared<no_events>(),
                {.initial_bytes = std::size_t{1} << 43});
  warpheap::random_sequence random(1);
  // Sizes of 256 B to 4 MiB, as likely small as large.
  const auto size = [&] { return (256u + random.below(256)) << random.below(14); };
  std::vector<void*> blocks(live);
  for (void*& block : blocks) block = pool->allocate(size(), 256, stream_id::legacy_default);
  const auto replace = [&](std::size_t count) {
    for (std::size_t n = 0; n < count; ++n) {
      void*& block = blocks[random.below(live)];
      pool->deallocate(block, stream_id::legacy_default);
      block = pool->allocate(size(), 256, stream_id::legacy_default);
    }
  };
  // Brings the holes into their steady state.
  replace(live);
  CALLGRIND_START_INSTRUMENTATION;
  replace(calls);
  CALLGRIND_STOP_INSTRUMENTATION;
  return 0;
}
