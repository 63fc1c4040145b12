// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "device_array.hpp"
#include "machine.hpp"
#include "one_each.hpp"

#include "warpheap/heap/heap.hpp"
#include "warpheap/managers/ouroboros/ouroboros.hpp"

#include <gtest/gtest.h>
#include <cstdint>
#include <string>
#include <vector>

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

struct variant_names {
  template <class M>
  static std::string GetName(int /*index*/) {
    return M::about.name;
  }
};

/// A heap, and launches on it.
template <class M>
class ouroboros_test : public ::testing::Test {
 protected:
  using sizes = ouroboros_parts::geometry<ouroboros_config{}>;
  static constexpr std::size_t heap_bytes = std::size_t{sanitized ? 1 : 4} << 20;

  /// Up to `count` blocks: those that were not null.
  std::vector<void*> take(std::uint64_t bytes, std::uint64_t count) {
    const device_array<void*> blocks(count);
    machine().launch(covering(count), take_one_each<M>{heap_.ref(), bytes, count, blocks.get()});
    std::vector<void*> got;
    for (void* block : blocks.read()) {
      if (block != nullptr) got.push_back(block);
    }
    expect_valid();
    return got;
  }
  std::vector<void*> take_all(std::uint64_t bytes) { return take(bytes, heap_bytes / bytes + 1); }

  void give(const std::vector<void*>& which) {
    if (which.empty()) return;
    const device_array<void*> blocks(which);
    machine().launch(covering(which.size()),
                     give_one_each<M>{heap_.ref(), which.size(), blocks.get()});
    expect_valid();
  }

  void expect_valid() {
    const validation found = heap_.validate();
    ASSERT_TRUE(found.ok()) << found.describe();
  }

  warpheap::heap<M> heap_{machine(), heap_bytes};
};

}  // namespace test
WARPHEAP_END_NAMESPACE
