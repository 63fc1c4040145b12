// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "warpheap/core/align.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/host/pools/pool_interface.hpp"
#include "warpheap/host/pools/spin_lock.hpp"
#include "warpheap/host/pools/unlocked_pool.hpp"
#include "warpheap/host/streams/pending_blocks.hpp"
#include "warpheap/host/streams/stream_fences.hpp"

namespace warpheap::host {

/// A pool for many threads and streams over any policy.
///
/// While only one stream uses the pool, that stream *owns* it: its frees go straight to the policy
/// and merge at once, and no event is ever recorded, because a stream's own work is ordered.
///
/// As soon as another stream calls, the pool is *shared*. The owner's frees so far are put behind
/// one fence (an event that every other stream waits for before it uses memory of the pool). The
/// owner may have been destroyed by then, so the event covers all streams. From then on, a freed
/// block is pending: its stream may reuse it at once, and it goes to the policy, where it merges,
/// once an event shows that it is unused. If a request finds no memory, all pending blocks merge
/// behind fences at once; so no stream keeps memory that another one needs, and nothing is taken
/// from the upstream while freed memory suffices.
///
/// After a long run of calls from one stream, once no block of the others is pending, that stream
/// owns the pool again.
///
/// Invariants: those of the policy; Q1: the blocks of the policy are those in use and those
/// pending; Q2: an owned pool has no pending block.
template <class Policy>
class stream_pool final : public pool_interface {
 public:
  stream_pool(std::shared_ptr<upstream> source, std::shared_ptr<stream_events> events,
              pool_options options = {})
      : events_(std::move(events)),
        pool_(std::move(source), options),
        pending_({options.granule_bytes}, *events_),
        fences_(*events_) {}

  /// Waits for the streams that used the pool, then gives everything back.
  ~stream_pool() override { wait_for_streams(); }

  // Here and in `deallocate`, the whole common case is inlined, down to the policy's tables, which
  // saves some 5 % of a call. Rare cases are kept out with `noinline`.
  [[gnu::flatten]] void* try_allocate(std::size_t bytes, std::size_t alignment,
                                      stream_id stream) override {
    if (!is_power_of_two(alignment)) refuse_alignment(alignment);
    if (bytes == 0) return nullptr;
    const std::lock_guard guard(lock_);
    extent block;
    if (stream == owner_) {
      block = pool_.allocate(bytes, alignment);
      if (!block) block = grow(bytes, alignment, stream);
    } else {
      block = allocate_as_guest(bytes, alignment, stream);
    }
    if (!block) {
      stats_.failed(bytes);
      return nullptr;
    }
    stats_.allocated(block.bytes);
    return reinterpret_cast<void*>(block.base);
  }

  [[gnu::flatten]] void deallocate(void* memory, stream_id stream) override {
    if (memory != nullptr && !take_back(memory, stream)) refuse(memory);
  }

  /// The same, but returns false for a pointer that is not a live block of this pool. \pre not null
  [[gnu::flatten]] bool try_deallocate(void* memory, stream_id stream) {
    return take_back(memory, stream);
  }

  void* allocate_quickly(std::size_t bytes, std::size_t alignment, stream_id stream) override {
    if (bytes == 0 || !is_power_of_two(alignment)) return nullptr;
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard) return nullptr;
    extent block;
    if (stream == owner_) {
      block = pool_.allocate(bytes, alignment);
    } else if (is_routine(stream)) {
      block = take_pending(stream, bytes, alignment);
      if (!block && fences_.empty()) block = pool_.allocate(bytes, alignment);
      if (block) count(stream);
    }
    if (!block) return nullptr;
    stats_.allocated(block.bytes);
    return reinterpret_cast<void*>(block.base);
  }

  bool deallocate_quickly(void* memory, stream_id stream) override {
    const auto base = reinterpret_cast<address>(memory);
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard) return false;
    std::size_t bytes = 0;
    if (stream == owner_) {
      bytes = pool_.deallocate(base);
    } else if (is_routine(stream) && !pending_.closes_with_next(stream)) {
      if (const extent block = in_use(base)) {
        bytes = make_pending(block, stream, stream);
        count(stream);
      }
    }
    if (bytes == 0) return false;
    stats_.deallocated(bytes);
    return true;
  }

  std::size_t truncate(void* memory, std::size_t bytes) override {
    const auto base = reinterpret_cast<address>(memory);
    const std::lock_guard guard(lock_);
    if (!in_use(base)) refuse(memory);
    if (bytes == 0) throw invalid_argument("a block cannot be cut to 0 bytes");
    const std::size_t taken = pool_.truncate(base, bytes);
    stats_.bytes_in_use -= taken;
    return taken;
  }

  std::size_t usable_bytes(void* memory) const override {
    const auto base = reinterpret_cast<address>(memory);
    const std::lock_guard guard(lock_);
    return in_use(base).bytes;
  }

  void order(stream_id earlier, stream_id later) override {
    if (earlier == later) return;
    const std::lock_guard guard(lock_);
    const event_handle event = events_->record(earlier);
    events_->make_wait(later, event);
    events_->recycle(event);
  }

  pool_stats stats() const override {
    const std::lock_guard guard(lock_);
    pool_stats all = stats_;
    pool_.add_to(all);
    all.pending_bytes = pending_.bytes();
    all.pending_blocks = pending_.blocks();
    return all;
  }

  std::size_t trim(std::size_t keep_bytes) override {
    const std::lock_guard guard(lock_);
    wait_for_streams();
    return pool_.trim(keep_bytes);
  }

  std::optional<std::string> check() const override {
    const std::lock_guard guard(lock_);
    if (auto wrong = pool_.check()) return wrong;
    std::size_t blocks = 0;
    std::size_t bytes = 0;
    pool_.for_each_block([&](extent block, bool used) {
      blocks += used;
      bytes += used ? block.bytes : 0;
    });
    if (blocks != stats_.blocks + pending_.blocks() ||
        bytes != stats_.bytes_in_use + pending_.bytes()) {
      return "Q1: " + std::to_string(blocks) + " blocks of " + std::to_string(bytes) +
             " bytes there, " + std::to_string(stats_.blocks) + " of " +
             std::to_string(stats_.bytes_in_use) + " in use and " +
             std::to_string(pending_.blocks()) + " of " + std::to_string(pending_.bytes()) +
             " pending";
    }
    if (owner_ != nobody && pending_.blocks() != 0) return "Q2: blocks pend in an owned pool";
    return std::nullopt;
  }

  void for_each_block(const std::function<void(extent, bool)>& visit) const override {
    const std::lock_guard guard(lock_);
    pool_.for_each_block(visit);
  }

 private:
  using clock = std::chrono::steady_clock;

  static constexpr std::size_t no_limit = held_regions<Policy>::no_limit;
  // No stream has this handle: streams are pointers or small numbers.
  static constexpr stream_id nobody{~std::uintptr_t{1}};
  // Consecutive calls of one stream after which it may own the pool.
  static constexpr unsigned long_run = 1024;
  // Calls to a shared pool between two checks of the events.
  static constexpr unsigned look_every = 16;
  // A request that only saves memory waits for this long: longer than most kernels take, and
  // shorter than what a user would notice.
  static constexpr std::chrono::milliseconds longest_wait{20};

  bool take_back(void* memory, stream_id stream) {
    const auto base = reinterpret_cast<address>(memory);
    const std::lock_guard guard(lock_);
    const std::size_t bytes =
        stream == owner_ ? pool_.deallocate(base) : deallocate_as_guest(base, stream);
    if (bytes == 0) return false;
    stats_.deallocated(bytes);
    return true;
  }

  [[noreturn, gnu::noinline]] static void refuse(void* memory) {
    const auto base = reinterpret_cast<address>(memory);
    throw invalid_argument(
        to_text(base) +
        " is not a live block: it was already freed, or this pool never returned it");
  }

  [[noreturn, gnu::noinline]] static void refuse_alignment(std::size_t alignment) {
    throw invalid_argument("an alignment of " + std::to_string(alignment) +
                           " bytes: it must be a power of two");
  }

  // The key of a stream in the bookkeeping: each thread's per-thread stream has its own. Handles
  // are never odd addresses.
  static stream_id key_of(stream_id stream) {
    if (stream != stream_id::per_thread) return stream;
    thread_local const char here = 0;
    return stream_id{reinterpret_cast<std::uintptr_t>(&here) | 1};
  }

  extent in_use(address base) const {
    return pending_.contains(base) ? extent{} : pool_.block_at(base);
  }

  auto to_policy() {
    return [this](extent block) { pool_.deallocate(block.base); };
  }

  // Puts all blocks that the owner freed behind a fence: from now on, the pool is shared.
  void share() {
    if (owner_ != nobody && owner_ != stream_id::none) {
      fences_.raise(owner_, events_->record_absent(owner_));
    }
    owner_ = nobody;
  }

  void merge_pending() {
    pending_.retire_all(to_policy(),
                        [this](stream_id key, event_handle event) { fences_.raise(key, event); });
  }

  // A call from a stream that does not own the pool. Returns whether the stream owns it now.
  bool enter(stream_id stream, stream_id key) {
    const bool may_own = stream != stream_id::per_thread;
    if (owner_ == stream_id::none || (owner_ == nobody && !used_)) {
      // No stream uses any of the blocks freed so far.
      used_ = true;
      owner_ = may_own ? stream : nobody;
      return may_own;
    }
    share();
    count(key);
    if (calls_ % look_every == 0) pending_.retire_happened(to_policy());
    if (run_ < long_run || !may_own || pending_.others_than(key)) return false;
    pending_.retire_stream(key, to_policy());
    fences_.pass(key, stream);
    owner_ = stream;
    run_ = 0;
    return true;
  }

  // Whether `enter` would do nothing but count the call of this stream, which does not own the
  // pool.
  bool is_routine(stream_id stream) const {
    if (owner_ != nobody || !used_) return false;
    if (stream == stream_id::none || stream == stream_id::per_thread) return false;
    return run_with(stream) < long_run && (calls_ + 1) % look_every != 0;
  }

  unsigned run_with(stream_id key) const { return key == last_ ? run_ + 1 : 0; }

  void count(stream_id key) {
    run_ = run_with(key);
    last_ = key;
    ++calls_;
  }

  // A block that the stream freed itself, or nothing.
  extent take_pending(stream_id key, std::size_t bytes, std::size_t alignment) {
    // A policy that rounds requests up to its own sizes may return nearly twice as much anyway.
    const std::size_t size = align_up(bytes, pool_.granule());
    const std::size_t most = Policy::aligns ? size + size / 8 : 2 * size;
    return pending_.take(key, size, most, alignment);
  }

  // Returns the bytes of the block, which is in use.
  std::size_t make_pending(extent known, stream_id stream, stream_id key) {
    const extent block = pool_.own_block(known);
    pending_.add(key, stream, block);
    return block.bytes;
  }

  [[gnu::noinline]] extent allocate_as_guest(std::size_t bytes, std::size_t alignment,
                                             stream_id stream) {
    const stream_id key = key_of(stream);
    if (!enter(stream, key)) {
      if (const extent block = take_pending(key, bytes, alignment)) return block;
    }
    extent block = pool_.allocate(bytes, alignment);
    if (!block && pending_.blocks() != 0) {
      pending_.retire_happened(to_policy());
      block = pool_.allocate(bytes, alignment);
      if (!block) {
        merge_pending();
        block = pool_.allocate(bytes, alignment);
      }
    }
    if (!block) block = grow(bytes, alignment, stream);
    fences_.pass(key, stream);
    return block;
  }

  [[gnu::noinline]] std::size_t deallocate_as_guest(address base, stream_id stream) {
    const extent block = in_use(base);
    if (!block) return 0;
    // Freed in no stream means unused by every stream.
    if (stream == stream_id::none) return pool_.deallocate(base);
    const stream_id key = key_of(stream);
    if (enter(stream, key)) return pool_.deallocate(base);
    return make_pending(block, stream, key);
  }

  // The last resort, in this order: a thorough search; more memory; pages of the holes, once the
  // pool holds as much as it should; even more memory; pages of the holes, however long the streams
  // take; and what the upstream has after it got back what no block needs.
  [[gnu::noinline]] extent grow(std::size_t bytes, std::size_t alignment, stream_id stream) {
    const std::size_t needed = stats_.bytes_in_use + align_up(bytes, pool_.granule());
    const std::size_t most = pool_.most_held_for(std::max(stats_.peak_bytes, needed));
    if (const extent block = pool_.allocate_or_grow(bytes, alignment, most)) return block;
    const bool movable = !events_->is_captured(stream) && pool_.has_movable_pages();
    if (movable && pool_.may_move(stats_.allocations) &&
        pool_.has_pages_for(bytes, alignment, most) && streams_are_done_soon(stream)) {
      if (extent block = pool_.allocate_by_moving_pages(bytes, alignment, most)) return block;
    }
    if (const extent block = pool_.allocate_or_grow(bytes, alignment)) return block;
    if (movable) {
      wait_for_streams(stream, clock::time_point::max());
      if (extent block = pool_.allocate_by_moving_pages(bytes, alignment, no_limit)) return block;
    }
    if (!pool_.has_unused_region()) return {};
    wait_for_streams();
    pool_.trim(0);
    return pool_.allocate_or_grow(bytes, alignment);
  }

  // To merely save memory, no caller waits for work that may not end before the caller continues.
  // If a wait takes too long, the pool does not try again at once, so that waiting in vain stays
  // rare.
  bool streams_are_done_soon(stream_id stream) {
    if (stats_.allocations < patient_from_) return false;
    if (wait_for_streams(stream, clock::now() + longest_wait)) return true;
    patient_from_ = stats_.allocations + long_run;
    return false;
  }

  // Afterwards, no stream uses free memory, for the duration of a call of `stream`: if that stream
  // owns the pool, the call waits for no other. Returns false if the deadline came first; then
  // streams may still use free memory.
  bool wait_for_streams(stream_id stream, clock::time_point deadline) {
    if (stream != owner_) {
      merge_pending();
    } else if (stream != stream_id::none) {
      const event_handle event = events_->record(stream);
      const bool done = events_->wait_until(event, deadline);
      events_->recycle(event);
      if (!done) return false;
    }
    return fences_.wait_until(deadline);
  }

  // Afterwards, no stream uses any memory outside the blocks in use.
  void wait_for_streams() {
    const stream_id owner = owner_;
    share();
    merge_pending();
    fences_.wait_for_all();
    owner_ = owner;
  }

  mutable spin_lock lock_;
  std::shared_ptr<stream_events> events_;
  unlocked_pool<Policy> pool_;
  pool_stats stats_;
  stream_id owner_ = nobody;
  bool used_ = false;
  stream_id last_ = nobody;
  unsigned run_ = 0;
  unsigned calls_ = 0;
  std::uint64_t patient_from_ = 0;  ///< requests from which pages may move to save memory
  pending_blocks pending_;
  stream_fences fences_;
};

}  // namespace warpheap::host
