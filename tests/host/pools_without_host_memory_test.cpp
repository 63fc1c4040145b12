// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What pools and upstreams lose when the process has no memory for their own records: nothing. A
// program of its own, since it replaces `new`.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string_view>

#include "fake_events.hpp"
#include "warpheap/host/pools/make_pool.hpp"
#include "warpheap/host/upstreams/host_upstream.hpp"
#include "warpheap/host/upstreams/shared_upstream.hpp"

namespace {

/// How many allocations of the process succeed before one fails; negative: all do.
int successes = -1;

void* allocate_or_fail(std::size_t bytes) {
  if (successes == 0) throw std::bad_alloc();
  if (successes > 0) --successes;
  if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_fail(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace warpheap::host {
namespace {

/// Calls `act` with one allocation after the other that fails, until none does; returns how many
/// did. `check` follows each call.
int fail_each(const auto& act, const auto& check) {
  for (int failed = 0;; ++failed) {
    bool has_failed = false;
    successes = failed;
    try {
      act();
    } catch (const std::bad_alloc&) {
      has_failed = true;
    }
    successes = -1;
    check();
    if (!has_failed) return failed;
  }
}

/// Memory of the host, with a count of its regions.
class counting_upstream : public upstream {
 public:
  void* allocate(std::size_t bytes) override {
    void* const memory = source_.allocate(bytes);
    if (memory != nullptr) ++given_;
    return memory;
  }
  void deallocate(void* memory, std::size_t bytes) noexcept override {
    --given_;
    source_.deallocate(memory, bytes);
  }
  std::string_view name() const override { return source_.name(); }
  int given() const { return given_; }

 private:
  host_upstream source_;
  int given_ = 0;
};

TEST(shared_upstream_without_host_memory, obtains_nothing_that_it_cannot_record) {
  const auto source = std::make_shared<counting_upstream>();
  shared_upstream shared(source, std::size_t{1} << 20);
  void* memory = nullptr;
  const int failed = fail_each([&] { memory = shared.allocate(4096); },
                               [&] { EXPECT_EQ(source->given(), memory == nullptr ? 0 : 1); });
  EXPECT_GT(failed, 0);
  ASSERT_NE(memory, nullptr);
  shared.deallocate(memory, 4096);
  EXPECT_EQ(source->given(), 0);
  EXPECT_EQ(shared.available_bytes(), std::size_t{1} << 20);
}

// Buddies cannot align: an address inside a larger block takes two records.
TEST(pool_without_host_memory, loses_no_block_whose_address_it_cannot_record) {
  const auto pool = make_pool("binary_buddy", std::make_shared<host_upstream>(),
                              std::make_shared<fake_events>(), {.initial_bytes = 1 << 20});
  constexpr std::size_t alignment = 8192;
  // A record, and a block after which the next one does not begin aligned.
  void* const other = pool->allocate(4096, alignment, one);
  void* const first = pool->allocate(4096, 1, one);
  void* const last = std::max(first, other);
  const auto place = reinterpret_cast<std::uintptr_t>(last);
  void* const aligned = static_cast<char*>(last) - place % alignment;
  void* block = nullptr;
  const std::size_t before = pool->stats().bytes_in_use;
  const auto expect_unchanged = [&] {
    EXPECT_EQ(pool->check(), std::nullopt);
    if (block != nullptr) return;
    EXPECT_EQ(pool->stats().bytes_in_use, before);
    // No address behind these blocks has a record, and no block there is hidden.
    for (std::size_t k = 1; k <= 16; ++k) {
      EXPECT_EQ(pool->usable_bytes(static_cast<char*>(aligned) + k * alignment), 0u) << k;
    }
    void* const whole = pool->allocate(4 * 4096, 1, one);
    EXPECT_EQ(pool->usable_bytes(whole), 4u * 4096);
    pool->deallocate(whole, one);
  };
  EXPECT_GE(fail_each([&] { block = pool->try_allocate(4096, alignment, one); }, expect_unchanged),
            2);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % alignment, 0u);
  for (void* const each : {block, first, other}) pool->deallocate(each, one);
  EXPECT_EQ(pool->stats().bytes_in_use, 0u);
}

}  // namespace
}  // namespace warpheap::host
