// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The heap behind malloc in kernels: managers by name, blocks of any size, requests without a heap,
// pointers that are not from the heap.
#include "device_array.hpp"
#include "machine.hpp"

#include "warpheap/core/units.hpp"
#include "warpheap/malloc/selected_heap.hpp"
#include "warpheap/simt/device_memory.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

struct take_one {
  malloc_ref ref;
  std::size_t bytes;
  void** blocks;
  WARPHEAP_DEVICE void operator()() const {
    auto* block = static_cast<unsigned char*>(ref.malloc(bytes));
    const auto rank = simt::thread_rank();
    if (block != nullptr) {
      block[0] = static_cast<unsigned char>(rank);
      block[bytes - 1] = static_cast<unsigned char>(rank);
    }
    blocks[rank] = block;
  }
};

struct give_all {
  malloc_ref ref;
  void** blocks;
  WARPHEAP_DEVICE void operator()() const { ref.free(blocks[simt::thread_rank()]); }
};

struct use_variable {
  const malloc_ref* state;
  std::uint32_t* served;
  WARPHEAP_DEVICE void operator()() const {
    void* block = state->malloc(16);
    state->malloc(0);
    if (block != nullptr) simt::atomic_ref(*served).fetch_add(1, simt::order::relaxed);
    state->free(block);
    state->free(nullptr);
  }
};

namespace {

constexpr std::uint32_t lanes = 64;

std::uint64_t unserved(const malloc_ref* state) {
  malloc_ref copy;
  machine().copy_to_host(&copy, state, sizeof copy);
  return copy.unserved();
}

TEST(selected_heap, every_manager_serves_small_and_large_blocks) {
  for (const std::string_view name : selected_heap::names) {
    const selected_heap subject(machine(), 128_MiB, name);
    EXPECT_EQ(subject.manager(), name);
    ASSERT_GT(subject.largest_block(), 1_MiB) << name;
    for (const std::size_t bytes :
         {std::size_t{1}, std::size_t{16}, std::size_t{8193}, std::size_t{100'000}}) {
      const device_array<void*> blocks(lanes);
      subject.on().launch({2, lanes / 2}, take_one{subject.ref(), bytes, blocks.get()});
      subject.on().synchronize();
      for (void* block : blocks.read()) {
        ASSERT_NE(block, nullptr) << name << ", " << bytes;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
      }
      EXPECT_EQ(subject.stats().blocks_in_use, lanes) << name << ", " << bytes;
      subject.on().launch({2, lanes / 2}, give_all{subject.ref(), blocks.get()});
      subject.on().synchronize();
      EXPECT_EQ(subject.stats().blocks_in_use, 0u) << name << ", " << bytes;
    }
    EXPECT_EQ(subject.stats().failures, 0u);
  }
}

TEST(selected_heap, the_first_manager_is_the_default) {
  EXPECT_EQ(selected_heap(machine(), 64_MiB).manager(), default_manager::about.name);
}

TEST(selected_heap, an_unknown_manager_is_named_with_those_that_are_known) {
  try {
    const selected_heap refused(machine(), 64_MiB, "galatin");
    ADD_FAILURE() << "it was made";
  } catch (const invalid_argument& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'galatin'"), std::string::npos) << message;
    EXPECT_NE(message.find("gallatin"), std::string::npos) << message;
  }
}

TEST(selected_heap, a_size_beyond_the_heap_returns_null_and_is_counted_apart) {
  const selected_heap subject(machine(), 64_MiB);
  const device_array<void*> blocks(lanes);
  subject.on().launch({1, lanes}, take_one{subject.ref(), 64_MiB, blocks.get()});
  subject.on().synchronize();
  for (void* block : blocks.read()) EXPECT_EQ(block, nullptr);
  EXPECT_EQ(subject.stats().impossible, lanes);
  EXPECT_EQ(subject.stats().failures, 0u);
}

TEST(selected_heap, pointers_outside_the_heap_are_ignored) {
  for (const std::string_view name : selected_heap::names) {
    const selected_heap subject(machine(), 64_MiB, name);
    const device_array<void*> blocks(lanes);
    subject.on().launch({1, lanes}, take_one{subject.ref(), 48, blocks.get()});
    // Memory that another allocator gave, below or above the heap.
    const device_array<std::uint64_t> others(8 * lanes);
    std::vector<void*> addresses;
    for (std::uint32_t i = 0; i < lanes; ++i) addresses.push_back(others.get() + 8 * i);
    const device_array<void*> foreign(addresses);
    subject.on().launch({1, lanes}, give_all{subject.ref(), foreign.get()});
    subject.on().synchronize();
    EXPECT_EQ(subject.stats().blocks_in_use, lanes) << name;
  }
}

TEST(selected_heap, a_variable_that_was_not_filled_refers_to_no_heap) {
  const device_memory memory(machine(), sizeof(malloc_ref));
  auto* state = reinterpret_cast<malloc_ref*>(memory.get());
  machine().fill(state, 0, sizeof(malloc_ref));
  const device_array<std::uint32_t> served(1);
  machine().launch({1, lanes}, use_variable{state, served.get()});
  machine().synchronize();
  EXPECT_EQ(served.read()[0], 0u);
  EXPECT_EQ(unserved(state), lanes) << "a request for nothing does not count";

  const selected_heap subject(machine(), 64_MiB);
  const malloc_ref ref = subject.ref();
  machine().copy_to_device(state, &ref, sizeof ref);
  machine().launch({1, lanes}, use_variable{state, served.get()});
  machine().synchronize();
  EXPECT_EQ(served.read()[0], lanes);
  EXPECT_EQ(unserved(state), 0u);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE
