// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"
#include "manager_world.hpp"

#include "warpheap/managers/halloc/halloc.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Slabs of eight blocks of 512 bytes, and walks that do not visit all of them. A slab with up to
/// two such blocks is sparse.
inline constexpr halloc_config small_slabs{
    .largest_slab = 4096, .smallest_slab = 4096, .slabs = 1, .sparse = 250, .probes = 4};

/// Slabs behind 10240 bytes, and sizes of three kinds of chunks, two of one kind.
template <class M>
setup<M> few_slabs(int slabs = 3) {
  constexpr int slab = 4096;
  return {.region_bytes = static_cast<std::size_t>(10240 + slabs * slab),
          .sizes = {512, 1024, 768, 100},
          // 100 bytes are more than 96, and get 128.
          .holds = {slabs * (slab / 512), slabs * (slab / 1024), slabs * (slab / 768),
                    slabs * (slab / 128)},
          .exact = false,
          .exact_for_one_size = true};
}

/// All that is free is a place in the head of larger blocks, which one lane looks at there, while
/// two lanes search all slabs for half of it each. A claim of it that fails has hidden one half for
/// a while: a lane that has searched meanwhile must not have made it known that nothing is left.
class undone_claim : public heap_world {
 public:
  static constexpr simt::grid shape{3, 1};

  explicit undone_claim(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([this] {
      std::byte* const large = heap.take(2 * bytes);
      std::byte* start = large;
      for (int i = 0; i < 2; ++i) start = std::min(start, heap.take(2 * bytes));
      std::vector<std::byte*> all;
      while (std::byte* const one = heap.take(bytes)) all.push_back(one);
      // All slabs are full, so the first one begins where the first block does.
      for (std::byte* const one : all) start = std::min(start, one);
      for (std::byte* const one : all) {
        if ((one - start) / slab == (large - start) / slab) heap.give(one);
      }
    });
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    std::fill_n(got_, 3, nullptr);
  }

  void lane() {
    const std::uint64_t me = simt::thread_rank();
    got_[me] = heap.take(me == 0 ? 2 * bytes : bytes);
  }

  std::string verdict() {
    const auto nulls = std::count(got_ + 1, got_ + 3, nullptr);
    const auto left = got_[0] != nullptr ? 0 : nulls;
    bool refused = false;
    heap.run_quietly([&] {
      for (auto i = left; i > 0; --i) refused = heap.take(bytes) == nullptr || refused;
    });
    return refused ? "null, and a block is free" : heap.problem();
  }

 private:
  static constexpr std::uint32_t bytes = 512;
  static constexpr int slab = 4096;

  std::byte* got_[3] = {};
};

inline std::vector<named_case> undone_claims(const any_setup& how) {
  return {case_of<undone_claim>("undone_claim", how)};
}

inline std::vector<named_case> halloc_cases(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  for (named_case& one : undone_claims(how)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
