// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/warpheap/warpheap.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

#include <algorithm>
#include <bit>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Chunks of few words, so that they become full and empty all the time.
class warpheap_of_small_chunks
    : public warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}> {
 public:
  using manager = warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}>;
  using manager::manager;
  static constexpr capabilities about = renamed(manager::about, "warpheap_4096");
};

template <warpheap_config Config>
struct manager_traits<warpheap_manager<Config>> : default_traits<warpheap_manager<Config>> {
  static warpheap_options beginning(std::size_t bytes) { return {.initial_bytes = bytes}; }

  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // The smallest chunks. The classes are all multiples of 16 up to a sixteenth of a chunk, and 14
    // that cut a chunk into 15 to 2 slots.
    constexpr std::size_t chunk = Config.smallest_chunk;
    constexpr std::size_t chunks = 100;
    constexpr std::size_t multiples = chunk / 16 / 16;
    constexpr std::size_t classes = multiples + 14;
    static_assert(chunk <= 16384 && Config.word_slots == 48);
    constexpr std::size_t words = ceil_div<std::size_t>(chunk / 16, 48);
    // A cell for 512 slots, a power of two from 8 on.
    std::size_t offers = 14 * 8;
    for (std::size_t i = 1; i <= multiples; ++i) {
      const std::size_t slots = chunks * (chunk / (16 * i));
      offers += std::max<std::size_t>(8, std::bit_ceil(ceil_div<std::size_t>(slots, 512)));
    }
    const std::size_t heap_bytes = layout_bytes()
                                       .array(32, 128)  // state
                                       .array(classes, 64)
                                       .array(chunks / 2 * classes, 4)  // hints
                                       .trees(classes + 2, chunks)
                                       .array(2, 128)                // a copy of the handle
                                       .array(chunks, 4)             // a class's chunks
                                       .array(chunks, 4)             // run lengths
                                       .array(chunks, 4)             // states
                                       .array(words * chunks, 8)     // words
                                       .array(chunks, 8)             // listed words
                                       .array(classes, 32)           // offers
                                       .array(classes, 8)            // where their cells are
                                       .array(offers, 4)             // their cells
                                       .then((chunks + 1) * chunk);  // wherever the heap lies
    std::vector<capacity> all{{4 * chunk, heap_bytes, chunks / 4, chunk}};
    constexpr std::size_t fifth = chunk / 5 / 16 * 16;
    for (const std::size_t bytes :
         {std::size_t{16}, std::size_t{48}, chunk / 32, fifth, chunk / 2, chunk}) {
      all.push_back({bytes, heap_bytes, chunks * (chunk / bytes), chunk});
    }
    return all;
  }
};
template <>
struct manager_traits<warpheap_of_small_chunks>
    : manager_traits<warpheap_of_small_chunks::manager> {};

using subjects = configurations<type_list<warpheap_manager<>>, type_list<warpheap_of_small_chunks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
