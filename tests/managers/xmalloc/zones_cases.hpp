// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Schedules of XMalloc in a heap of three zones of 32 units: no zone is missed, and blocks across
/// borders are handed out once and fall apart as they came together.

#include "managers/xmalloc/setups.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using zoned_xmalloc = test::zoned;

inline constexpr int zones = 3;
inline constexpr int zone_units = 32;

/// Superblocks do not lie across borders.
template <class M>
setup<M> zoned_requests() {
  return {.region_bytes = test::zoned_bytes,
          .sizes = {48, 112, 200},
          .holds = {zones * blocks_in(units_of_first, 1, zone_units),
                    zones * blocks_in(units_of_second, 2, zone_units), zones * zone_units / 4},
          .exact = false,
          .freed = {reuse_at_rest::of_any_size,
                    "other numbers may fit: free Superblocks stay where they are until a trim"}};
}

/// Bytes of a Memoryblock of this many units.
constexpr std::uint32_t bytes_of(int units) { return static_cast<std::uint32_t>(units) * 64 - 16; }

/// Nobody frees, and there is as much as all lanes want, in all zones together.
class every_zone_is_emptied : public heap_world {
 public:
  using heap_world::heap_world;

  void lane() {
    for (int i = 0; i < zones * zone_units / 4 / case_lanes; ++i) {
      if (heap.take(bytes_of(4)) == nullptr) {
        heap.blocks().note("null, and a zone had a block for each");
      }
    }
  }
};

/// All memory is in use but the end of a zone and the front of the next one.
class free_border : public heap_world {
 public:
  explicit free_border(const any_setup& how) : heap_world(uncounted(how)) {
    heap.run_quietly([&] {
      while (std::byte* const block = heap.take(bytes_of(part))) all_.push_back(block);
      std::sort(all_.begin(), all_.end());
      heap.give(all_.at(behind - 1));
      heap.give(all_.at(behind));
    });
    heap.keep_state();
  }

 protected:
  static constexpr int part = 8;
  /// The first block of the second zone.
  static constexpr std::size_t behind = zone_units / part;

  std::vector<std::byte*> all_;
};

/// All lanes want both sides of the border at once.
class one_block_across : public free_border {
 public:
  using free_border::free_border;

  void reset(std::uint64_t seed) {
    free_border::reset(seed);
    before_ = heap.blocks().count();
  }

  void lane() { heap.take(bytes_of(2 * part)); }

  std::string verdict() {
    const std::string wrong = heap.problem();
    if (!wrong.empty() || heap.blocks().count() == before_ + 1) return wrong;
    return std::to_string(heap.blocks().count() - before_) + " lanes have the only block";
  }

 private:
  int before_ = 0;
};

/// Some lanes take blocks across borders and free them, others what is left beside those.
class borders_come_and_go : public heap_world {
 public:
  using heap_world::heap_world;

  void lane() {
    const std::uint64_t drawn = lane_seed();
    for (int round = 0; round < 2; ++round) {
      const std::uint64_t size = drawn >> 8 * round & 3;
      std::byte* const block = heap.take(size == 0   ? bytes_of(zone_units + 8)
                                         : size == 1 ? bytes_of(2 * zone_units + 1)
                                         : size == 2 ? bytes_of(12)
                                                     : heap.size(0));
      give(block);
    }
  }

  std::string verdict() {
    std::byte* all = nullptr;
    const std::string wrong = heap.problem();
    if (!wrong.empty()) return wrong;
    heap.run_quietly([&] { all = heap.take(bytes_of(zones * zone_units)); });
    return all == nullptr ? "memory has not come together again" : heap.problem();
  }
};

inline std::vector<named_case> zone_cases(const any_setup& how) {
  return {case_of<every_zone_is_emptied>("every_zone_is_emptied", how),
          case_of<one_block_across>("one_block_across", how),
          case_of<borders_come_and_go>("borders_come_and_go", how)};
}

inline std::vector<named_case> cases_of_zones(const any_setup& how) {
  std::vector<named_case> cases = manager_cases(how);
  for (named_case& one : zone_cases(how)) cases.push_back(std::move(one));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
