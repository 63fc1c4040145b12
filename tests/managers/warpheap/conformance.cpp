// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/managers/warpheap/warpheap.hpp"

#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Chunks of few words, so that they become full and empty all the time.
class warpheap_of_small_chunks
    : public warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}> {
  using base = warpheap_manager<warpheap_config{.smallest_chunk = 4096, .largest_chunk = 4096}>;

 public:
  using base::base;
  static constexpr capabilities about = renamed(base::about, "warpheap_4096");
};

template <class M>
struct warpheap_traits : default_traits<M> {
  static warpheap_options beginning(std::size_t bytes) { return {.initial_bytes = bytes}; }
};

template <>
struct manager_traits<warpheap_of_small_chunks> : warpheap_traits<warpheap_of_small_chunks> {};

template <warpheap_config Config>
struct manager_traits<warpheap_manager<Config>> : warpheap_traits<warpheap_manager<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    // The smallest chunks. 64 classes are spaced, and 14 cut a chunk into 15 to 2 slots.
    constexpr std::size_t chunk = 16384;
    constexpr std::size_t chunks = 100;
    constexpr std::size_t classes = 64 + 14;
    // A cell for 512 slots, a power of two: 256 for 16 bytes, 128, 128, 64 ... 16, and 8 for the
    // rest.
    constexpr std::size_t offers = 1520;
    static_assert(Config.smallest_chunk == chunk && Config.word_slots == 48);
    const std::size_t heap_bytes = layout_bytes()
                                       .array(32, 128)  // state
                                       .array(classes, 64)
                                       .array(chunks / 2 * classes, 4)  // hints
                                       .trees(classes + 2, chunks)
                                       .array(2, 128)                // a copy of the handle
                                       .array(chunks, 4)             // a class's chunks
                                       .array(chunks, 4)             // run lengths
                                       .array(chunks, 4)             // states
                                       .array(22 * chunks, 8)        // words for 1024 slots
                                       .array(chunks, 8)             // listed words
                                       .array(classes, 32)           // offers
                                       .array(classes, 8)            // where their cells are
                                       .array(offers, 4)             // their cells
                                       .then((chunks + 1) * chunk);  // wherever the heap lies
    return {{16, heap_bytes, chunks * 1024, chunk},    {48, heap_bytes, chunks * 341, chunk},
            {512, heap_bytes, chunks * 32, chunk},     {3000, heap_bytes, chunks * 5, chunk},
            {8192, heap_bytes, chunks * 2, chunk},     {chunk, heap_bytes, chunks, chunk},
            {4 * chunk, heap_bytes, chunks / 4, chunk}};
  }
};

using subjects = configurations<type_list<warpheap_manager<>>, type_list<warpheap_of_small_chunks>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
