// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Ouroboros as small as possible, for tests that run lanes one by one.

#include "machine_of.hpp"

#include "warpheap/managers/ouroboros/ouroboros.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstring>
#include <memory>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Chunks of 64 bytes for pages of 16, 32 and 64; a queue chunk has eight entries.
template <item_kind Item, queue_kind Queue>
using tiny =
    ouroboros<ouroboros_config{.queue = Queue, .item = Item, .smallest_page = 16, .queues = 3}>;

/// A new heap.
template <class M>
class tiny_heap : public ::testing::Test {
 protected:
  static constexpr std::size_t bytes = 256 * 1024;
  static constexpr std::uint32_t most_lanes = 64;

  tiny_heap() : manager_(region{memory_->all, bytes}, machine_of(2, most_lanes), {}) {
    std::memset(memory_->all, 0xcd, bytes);
    manager_.format(0, 1);
  }

  /// One lane, which must end.
  template <class Lane>
  void run_alone(const Lane& lane) {
    EXPECT_EQ(alone_.run({simt::strategy::sticky, 1}, lane).stuck, "");
  }

 private:
  struct alignas(4096) space {
    std::byte all[bytes];
  };
  std::unique_ptr<space> memory_ = std::make_unique<space>();

 protected:
  M manager_;

 private:
  simt::explorer alone_{{1, 1}, 4'000'000};
};

}  // namespace test
WARPHEAP_END_NAMESPACE
