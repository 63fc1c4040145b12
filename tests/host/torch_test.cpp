// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The streams that PyTorch names for a block, with events that happen when the test says so.
#include <gtest/gtest.h>

#include <memory>

#include "../../src/host/c/pool.hpp"
#include "fake_events.hpp"
#include "pool_fixture.hpp"
#include "warpheap/host/c/torch.h"

namespace warpheap::host {
namespace {

// PyTorch frees a tensor in its own stream, whatever other streams used it.
TEST(streams_of_torch, a_free_comes_behind_every_stream_that_was_recorded_for_the_block) {
  const auto events = std::make_shared<fake_events>();
  warpheap_pool pool{make_pool("tlsf", std::make_shared<counted_upstream>(), events)};
  const auto handle = [](stream_id stream) { return reinterpret_cast<void*>(stream); };
  constexpr int device = 4;
  ASSERT_EQ(warpheap_torch_use(device, &pool), WARPHEAP_OK);
  void* const block = warpheap_torch_allocate(1000, device, handle(one));
  void* const other = warpheap_torch_allocate(1000, device, handle(one));
  warpheap_torch_record_stream(block, handle(two));
  warpheap_torch_record_stream(other, handle(two));
  warpheap_torch_record_stream(block, handle(three));
  for (const stream_id stream : {one, two, three}) events->submit(stream);

  warpheap_torch_deallocate(block, 1000, device, handle(one));
  EXPECT_TRUE(events->is_safe(one, two, 1));
  EXPECT_TRUE(events->is_safe(one, three, 1));
  EXPECT_FALSE(events->is_safe(two, one, 1)) << "a stream that only used it waits for nothing";
  EXPECT_EQ(events->blocked, 0);

  // The next block at this address has no stream but its own, and the other block still has.
  events->submit(two);
  const int calls = events->calls;
  ASSERT_EQ(warpheap_torch_allocate(1000, device, handle(one)), block);
  warpheap_torch_deallocate(block, 1000, device, handle(one));
  EXPECT_EQ(events->calls, calls);
  EXPECT_FALSE(events->is_safe(one, two, 2));
  warpheap_torch_deallocate(other, 1000, device, handle(one));
  EXPECT_TRUE(events->is_safe(one, two, 2));
  ASSERT_EQ(warpheap_torch_use(device, nullptr), WARPHEAP_OK);
}

}  // namespace
}  // namespace warpheap::host
