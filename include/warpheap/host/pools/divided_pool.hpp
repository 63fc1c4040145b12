// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "warpheap/core/error.hpp"
#include "warpheap/host/pools/stream_pool.hpp"
#include "warpheap/host/upstreams/shared_upstream.hpp"

namespace warpheap::host {

/// A pool in parts, each with its own policy, memory and lock: threads are assigned to parts in
/// turn, and threads of different parts do not wait for each other. For programs in which several
/// threads allocate at once. A part whose threads use a single stream is owned by that stream, so
/// no event is recorded.
///
/// It trades memory for speed: until the limit is reached, no part uses a hole of another, so the
/// pool may hold up to the sum of what each part held at its own peak. Only then do the parts help
/// each other: a request goes to another part that has room, and if none has, all parts give back
/// what no block needs, so that the thread's own part can grow.
///
/// Any thread may free a block; if the block is not from the thread's own part, the free costs a
/// search in each part that is asked before the right one.
///
/// Invariants: those of each part; the parts hold at most `limit_bytes` together.
///
/// Progress: as in `stream_pool`; no call holds the locks of two parts.
template <class Policy>
class divided_pool final : public pool_interface {
 public:
  static constexpr std::size_t most_parts = 1024;
  using events_maker = std::function<std::shared_ptr<stream_events>()>;

  /// `parts` parts, each with its own events and its share of `initial_bytes`; each grows by
  /// `region_bytes`. \throws as `stream_pool`, and invalid_argument for a number of parts that is
  /// not from 1 to `most_parts`
  divided_pool(std::shared_ptr<upstream> source, const events_maker& make_events, std::size_t parts,
               pool_options options = {})
      : events_(make_events()) {
    if (parts == 0 || parts > most_parts) {
      throw invalid_argument("a pool of " + std::to_string(parts) + " parts: it has from 1 to " +
                             std::to_string(most_parts));
    }
    const auto shared = std::make_shared<shared_upstream>(std::move(source), options.limit_bytes);
    checked(options);
    options.initial_bytes /= parts;
    for (std::size_t n = 0; n < parts; ++n) {
      parts_.push_back(std::make_unique<part>(shared, make_events(), options));
    }
  }

  [[gnu::flatten]] void* try_allocate(std::size_t bytes, std::size_t alignment,
                                      stream_id stream) override {
    void* const memory = own().try_allocate(bytes, alignment, stream);
    return memory != nullptr || bytes == 0 ? memory : exchange(bytes, alignment, stream);
  }

  [[gnu::flatten]] void deallocate(void* memory, stream_id stream) override {
    if (memory == nullptr || own().try_deallocate(memory, stream)) return;
    deallocate_elsewhere(memory, stream);
  }

  void* allocate_quickly(std::size_t bytes, std::size_t alignment, stream_id stream) override {
    return own().allocate_quickly(bytes, alignment, stream);
  }

  bool deallocate_quickly(void* memory, stream_id stream) override {
    return own().deallocate_quickly(memory, stream);
  }

  std::size_t truncate(void* memory, std::size_t bytes) override {
    return part_of(memory).truncate(memory, bytes);
  }

  std::size_t usable_bytes(void* memory) const override {
    return part_of(memory).usable_bytes(memory);
  }

  void order(stream_id earlier, stream_id later) override { own().order(earlier, later); }

  /// The sums over the parts. Failures are the pool's own: what one part refuses, another may
  /// serve.
  pool_stats stats() const override {
    pool_stats all;
    for (const auto& each : parts_) all += each->pool.stats();
    // Relaxed: counts that order nothing.
    all.failures = failures_.load(std::memory_order_relaxed);
    all.last_failed_bytes = last_failed_bytes_.load(std::memory_order_relaxed);
    return all;
  }

  std::size_t trim(std::size_t keep_bytes) override {
    std::size_t held = 0;
    for (const auto& each : parts_) held += each->pool.stats().reserved_bytes;
    std::size_t released = 0;
    for (const auto& each : parts_) {
      const std::size_t others = held - released - each->pool.stats().reserved_bytes;
      released += each->pool.trim(keep_bytes > others ? keep_bytes - others : 0);
    }
    return released;
  }

  std::optional<std::string> check() const override {
    for (const auto& each : parts_) {
      if (auto wrong = each->pool.check()) return wrong;
    }
    return std::nullopt;
  }

  /// One part is locked after the other.
  void for_each_block(const std::function<void(extent, bool)>& visit) const override {
    std::vector<std::pair<extent, bool>> all;
    for (const auto& each : parts_) {
      each->pool.for_each_block([&](extent block, bool used) { all.emplace_back(block, used); });
    }
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.first.base < b.first.base; });
    for (const auto& [block, used] : all) visit(block, used);
  }

 private:
  // No two parts share a pair of cache lines, as processors fetch them.
  struct alignas(128) part {
    part(std::shared_ptr<upstream> source, std::shared_ptr<stream_events> events,
         pool_options options)
        : pool(std::move(source), std::move(events), options) {}
    stream_pool<Policy> pool;
  };

  // Threads are numbered in the order in which they first use any divided pool; a number is never
  // reused, so each part has equally many threads, apart from those that have ended.
  static std::size_t number_of_thread() {
    static std::atomic<std::size_t> threads{0};
    thread_local std::size_t number = 0;
    // Relaxed: the number orders nothing.
    if (number == 0) number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
  }

  stream_pool<Policy>& own() const {
    // A division takes a fifth of a call's time, so the thread remembers its result.
    struct place {
      std::size_t parts;
      std::size_t part;
    };
    thread_local place mine{};
    if (mine.parts != parts_.size()) [[unlikely]]
      mine = {parts_.size(), number_of_thread() % parts_.size()};
    return parts_[mine.part]->pool;
  }

  // The part that the block is from; the thread's own if no part knows the block.
  stream_pool<Policy>& part_of(void* memory) const {
    stream_pool<Policy>& first = own();
    if (first.usable_bytes(memory) != 0) return first;
    for (const auto& each : parts_) {
      if (each->pool.usable_bytes(memory) != 0) return each->pool;
    }
    return first;
  }

  // For a request that the thread's own part cannot serve under the limit.
  [[gnu::noinline]] void* exchange(std::size_t bytes, std::size_t alignment, stream_id stream) {
    stream_pool<Policy>& first = own();
    for (const auto& each : parts_) {
      if (&each->pool == &first) continue;
      if (void* memory = each->pool.try_allocate(bytes, alignment, stream)) return memory;
    }
    std::size_t released = 0;
    // A stream whose work is being captured cannot be waited for.
    if (!events_->is_captured(stream)) {
      for (const auto& each : parts_) released += each->pool.trim(0);
    }
    void* memory = released != 0 ? first.try_allocate(bytes, alignment, stream) : nullptr;
    if (memory == nullptr) {
      failures_.fetch_add(1, std::memory_order_relaxed);
      last_failed_bytes_.store(bytes, std::memory_order_relaxed);
    }
    return memory;
  }

  [[gnu::noinline]] void deallocate_elsewhere(void* memory, stream_id stream) {
    stream_pool<Policy>& first = own();
    for (const auto& each : parts_) {
      if (&each->pool != &first && each->pool.try_deallocate(memory, stream)) return;
    }
    first.deallocate(memory, stream);  // refuses it
  }

  std::shared_ptr<stream_events> events_;  ///< asked whether a stream is captured, and nothing else
  std::vector<std::unique_ptr<part>> parts_;
  std::atomic<std::uint64_t> failures_{0};
  std::atomic<std::uint64_t> last_failed_bytes_{0};
};

}  // namespace warpheap::host
