// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/configurations.hpp"
#include "conformance/traits.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <queue_kind Queue, item_kind Item>
using configured = ouroboros<ouroboros_config{.queue = Queue, .item = Item}>;

template <ouroboros_config Config>
struct manager_traits<ouroboros<Config>> : default_traits<ouroboros<Config>> {
  static std::vector<capacity> capacities(const simt::device_properties& /*on*/) {
    constexpr std::size_t chunk = 8192;
    constexpr std::size_t chunks = 300;
    constexpr std::size_t classes = 12;
    constexpr bool is_virtual = Config.queue != queue_kind::static_array;
    constexpr bool has_pages = Config.item == item_kind::pages;
    // Three chunks per class, and one per class that is filled (P), or 3 in all (C).
    constexpr std::size_t of_queues = is_virtual ? 3 * classes + (has_pages ? classes : 3) : 0;
    layout_bytes metadata;
    metadata.array(classes, 6 * 128)
        .array(6, 128)                               // supply: counters
        .array(512, 4)                               // reuse queue
        .array(chunks, 1)                            // marks
        .array(chunks, 4)                            // states
        .array(chunks, 64);                          // bitmaps
    if (has_pages) metadata.trees(classes, chunks);  // parked
    if (is_virtual) {
      metadata.array(chunks, 4).array(classes * 64, 8);  // finished; pointers or fingers
      if (Config.queue == queue_kind::virtual_list) metadata.array(chunks, 8);  // links
    } else {
      // Of pages: a 128th of the heap, in powers of two. Of chunks: one each.
      metadata.array(classes * (has_pages ? 128 : 512), has_pages ? 8 : 4);
    }
    const std::size_t heap_bytes = metadata.then(chunks * chunk, 4096);
    constexpr std::size_t of_data = chunks - of_queues;
    return {{16, heap_bytes, of_data * 512, chunk},
            {1024, heap_bytes, of_data * 8, chunk},
            {chunk, heap_bytes, of_data, chunk},
            {2 * chunk, heap_bytes, of_data / 4 * 2, 4 * chunk},
            {4 * chunk, heap_bytes, of_data / 4, 4 * chunk}};
  }
};

using subjects = configurations<type_list<configured<queue_kind::static_array, item_kind::pages>,
                                          configured<queue_kind::virtual_array, item_kind::chunks>,
                                          configured<queue_kind::virtual_list, item_kind::chunks>>,
                                type_list<configured<queue_kind::static_array, item_kind::chunks>,
                                          configured<queue_kind::virtual_array, item_kind::pages>,
                                          configured<queue_kind::virtual_list, item_kind::pages>>>;

}  // namespace test
WARPHEAP_END_NAMESPACE

#include "conformance/suite.hpp"
