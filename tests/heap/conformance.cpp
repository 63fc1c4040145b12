// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layers, over the manager that needs them most, and small blocks beside large ones.
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "managers/halloc/traits.hpp"
#include "managers/random_walk/rw_malloc_bytes.hpp"
#include "managers/scatter_alloc/traits.hpp"
#include "warpheap/heap/layers/arena_blocks.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/heap/layers/counted.hpp"
#include "warpheap/heap/layers/with_large.hpp"
#include "warpheap/managers/random_walk/rw_malloc.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

class checked_rw_malloc : public checked<rw_malloc<>> {
 public:
  using checked<rw_malloc<>>::checked;
  static constexpr capabilities about = renamed(checked<rw_malloc<>>::about, "checked");
};
class counted_rw_malloc : public counted<rw_malloc<>> {
 public:
  using counted<rw_malloc<>>::counted;
  static constexpr capabilities about = renamed(counted<rw_malloc<>>::about, "counted");
};

/// What the heaps behind these layers have.
inline constexpr std::size_t units = 4096;
inline constexpr std::size_t unit_bytes = rw_malloc_config{}.unit_bytes;
/// Without as much, there is a unit less: what layers and manager round up may leave one's bytes.
inline constexpr std::size_t lost_bytes = 2 * unit_bytes;

template <>
struct manager_traits<checked_rw_malloc> : default_traits<checked_rw_malloc> {
  // With what the layer adds, a unit.
  static constexpr std::size_t refill_bytes = unit_bytes - 64;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    const std::size_t granules = ceil_div<std::size_t>(rw_malloc_bytes({}, units), 64);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(16 + 1024 * 64  // log
                                                  + 8         // turns of the quarantine
                                                  + granules * 24,
                                              1)
                                       .then(granules * 64);
    return {{refill_bytes, heap_bytes, units, lost_bytes}};
  }
};
template <>
struct manager_traits<counted_rw_malloc> : default_traits<counted_rw_malloc> {
  static constexpr std::size_t refill_bytes = unit_bytes - 16;

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    const auto counts = layout_bytes().array(1, 128);
    return {{refill_bytes, rw_malloc_bytes(counts, units), units, lost_bytes}};
  }
};

template <>
struct manager_traits<arena_blocks<rw_malloc<>>> : default_traits<arena_blocks<rw_malloc<>>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    const auto state = layout_bytes()
                           .array(1, 128)            // a copy of the handle
                           .array(1, 128 + 32 * 8);  // the only shard
    // A piece is the largest block behind, a word of 32 units, and all words become pieces. The
    // head of 32 bytes leaves 510 granules in each.
    constexpr std::size_t pieces = 32;
    const std::size_t heap_bytes = rw_malloc_bytes(state, pieces * 32);
    return {{16, heap_bytes, pieces * 510, unit_bytes},
            {240, heap_bytes, pieces * 34, unit_bytes},
            {510 * 16, heap_bytes, pieces, unit_bytes}};
  }
};

class halloc_with_large : public with_large<halloc<>, scatter_alloc<>> {
  using base = with_large<halloc<>, scatter_alloc<>>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "with_large");
};
template <>
struct manager_traits<halloc_with_large> : default_traits<halloc_with_large> {
  // Those that fill the heap are the large ones: pages.
  static constexpr std::size_t refill_bytes = 4096;

  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // On both sides of the limit: 3 KiB, and pages.
    std::vector<capacity> all{manager_traits<halloc<>>::capacities(on).back(),
                              manager_traits<scatter_alloc<>>::capacities(on).back()};
    for (capacity& half : all) {
      // The large half is made of whole hundredths, and of multiples of 256 bytes.
      half.heap_bytes = 2 * round_up<std::size_t>(half.heap_bytes, 256) + 256;
      half.unit_bytes *= 2;
    }
    return all;
  }
};

using subjects =
    configurations<type_list<checked_rw_malloc, counted_rw_malloc, arena_blocks<rw_malloc<>>>,
                   type_list<halloc_with_large>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
