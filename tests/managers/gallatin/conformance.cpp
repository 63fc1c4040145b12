// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/traits.hpp"
#include "warpheap/managers/gallatin/gallatin.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <gallatin_config Config>
struct manager_traits<gallatin<Config>> : default_traits<gallatin<Config>> {
  // Reuse is partial, for a hole waits until all of its neighbours are free as well. Then it ends.
  static constexpr bool whole_when_emptied = true;
  /// The units of a block, which has 64 slices in the smallest segments.
  static constexpr std::uint64_t reused_together(std::size_t bytes) {
    return bytes <= 4096 ? 64 : bytes <= 32768 ? 64 / ceil_div<std::size_t>(bytes, 4096) : 1;
  }

  static std::vector<capacity> capacities(const simt::device_properties& on) {
    // The smallest segments, with 64 of the largest slices.
    constexpr std::size_t segment = 256 * 1024;
    constexpr std::size_t segments = 34;
    const std::size_t heap_bytes =
        layout_bytes()
            .array(10, 128)      // moves, run claims and lock
            .array(26, 64)       // searches
            .array(segments, 4)  // memory table
            .trees(1, segments)
            .trees(9, (segments + 2) << 8)  // more than enough, and room to begin on a line each
            .array(segments << 8, 4)        // counters
            .array(on.multiprocessors, 128)
            .array(1, 128)  // copy of the handle
            .then(segments * segment, 4096);
    return {{16, heap_bytes, segments * 16384, segment},
            {4096, heap_bytes, segments * 64, segment},
            // Three slices each, of the one block of a segment.
            {12288, heap_bytes, segments * 21, segment},
            {32768, heap_bytes, segments * 8, segment},
            {65536, heap_bytes, segments * 4, segment},
            {segment, heap_bytes, segments, segment},
            {2 * segment, heap_bytes, segments / 2, segment}};
  }
};

using subjects = type_list<gallatin<>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
