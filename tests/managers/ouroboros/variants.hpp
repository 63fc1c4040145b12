// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_names.hpp"
#include "take_and_give.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

template <queue_kind Queue, item_kind Item>
using variant = ouroboros<ouroboros_config{.queue = Queue, .item = Item}>;

using page_variants = ::testing::Types<variant<queue_kind::static_array, item_kind::pages>,
                                       variant<queue_kind::virtual_array, item_kind::pages>,
                                       variant<queue_kind::virtual_list, item_kind::pages>>;
using chunk_variants = ::testing::Types<variant<queue_kind::static_array, item_kind::chunks>,
                                        variant<queue_kind::virtual_array, item_kind::chunks>,
                                        variant<queue_kind::virtual_list, item_kind::chunks>>;
using all_variants = ::testing::Types<variant<queue_kind::static_array, item_kind::pages>,
                                      variant<queue_kind::virtual_array, item_kind::pages>,
                                      variant<queue_kind::virtual_list, item_kind::pages>,
                                      variant<queue_kind::static_array, item_kind::chunks>,
                                      variant<queue_kind::virtual_array, item_kind::chunks>,
                                      variant<queue_kind::virtual_list, item_kind::chunks>>;

template <class M>
class ouroboros_test : public heap_test<M> {
 protected:
  using sizes = ouroboros_parts::geometry<ouroboros_config{}>;
  static constexpr std::size_t heap_bytes = std::size_t{sanitized ? 1 : 4} << 20;

  ouroboros_test() : heap_test<M>(heap_bytes) {}

  /// By one launch: nothing may be left for a second one.
  block_list take_all(std::size_t bytes) { return this->take(bytes, heap_bytes / bytes + 1); }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
