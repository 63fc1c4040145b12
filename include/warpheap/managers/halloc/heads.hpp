// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The head of each size: the slab that serves requests of this size first, and how it is replaced.
///
/// A lock for each size orders replacements. Its holder never waits, not even for another lock, and
/// takes part in no collective, so a lane may wait for it wherever the holder is.
///
/// Memory orders: a head is read relaxed, as a hint. Requests trust only the slab's word, which
/// they change with acq_rel. A lane that found in this word that the slab is no longer a head has
/// seen what came before, so it does not read the same head again.

#include "warpheap/heap/region.hpp"
#include "warpheap/managers/halloc/geometry.hpp"
#include "warpheap/managers/halloc/slab_word.hpp"
#include "warpheap/managers/halloc/slabs.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

template <halloc_config Config>
class heads {
 public:
  using slab_table = slabs<Config>;
  using shape_type = geometry<Config>;
  static constexpr std::uint32_t none = slab_table::none;

  enum class outcome {
    replaced,  ///< this lane has replaced the head
    renewed,   ///< another lane has replaced it, or the head has room again
    nothing,   ///< no slab could be the head
    locked,    ///< another lane is replacing it
  };

  heads() = default;
  heads(const slab_table& table, region_cursor& cursor) : slabs_(table) {
    lines_ = cursor.take<line>(shape_type::sizes, alignof(line));
  }

  WARPHEAP_HD const slab_table& table() const { return slabs_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    for (std::uint64_t i = rank; i < shape_type::sizes; i += count) {
      lines_[i].requests = first_request;
      lines_[i].head = none;
      lines_[i].lock = 0;
    }
  }

  /// The number of the first of `count` requests.
  WARPHEAP_DEVICE std::uint32_t number_requests(std::uint32_t size, std::uint32_t count) const {
    return simt::atomic_ref(lines_[size].requests).fetch_add(count, simt::order::relaxed);
  }

  WARPHEAP_DEVICE std::uint32_t head(std::uint32_t size) const {
    return simt::atomic_ref(lines_[size].head).load(simt::order::relaxed);
  }
  WARPHEAP_DEVICE bool is_locked(std::uint32_t size) const {
    return lock(size).load(simt::order::relaxed) != 0;
  }

  /// Finds another head for `size` in place of `old`, if that is still the head, and full.
  /// \param used_up replace it even if it is not full, because this size cannot use its places
  WARPHEAP_DEVICE outcome renew(std::uint32_t size, std::uint32_t old, bool used_up) const {
    if (head(size) != old) return outcome::renewed;
    if (!slabs_.has_head_for(size)) return outcome::nothing;
    if (!try_lock(size)) return outcome::locked;
    outcome result = outcome::renewed;
    if (head(size) == old && (old == none || used_up || is_full(old, size))) {
      const std::uint32_t fresh = slabs_.find_head_for(size);
      if (fresh == none) {
        result = outcome::nothing;
      } else {
        set_head(size, fresh);
        if (old != none) slabs_.retire(old);
        result = outcome::replaced;
      }
    }
    unlock(size);
    return result;
  }

  /// Waits while another lane replaces the head `old`. Ends: the lock's holder never waits.
  WARPHEAP_DEVICE void await(std::uint32_t size, std::uint32_t old) const {
    while (is_locked(size) && head(size) == old) simt::backoff(wait_ns);
  }

  /// Makes the slab free if it is an empty head. False if its size is locked, or if the slab is no
  /// longer what it seemed to be.
  WARPHEAP_DEVICE bool release_head(std::uint32_t slab) const {
    const slab_word now = slabs_.look(slab);
    if (!now.head() || now.used() != 0) return false;
    const std::uint32_t size = now.size();
    if (!try_lock(size)) return false;
    const bool is_head = head(size) == slab;
    if (is_head) {
      set_head(size, none);
      slabs_.retire(slab);
    }
    unlock(size);
    return is_head;
  }

  WARPHEAP_DEVICE bool is_full(std::uint32_t slab, std::uint32_t size) const {
    return slabs_.shape().is_full(size, slabs_.look(slab).used());
  }

 private:
  /// The number of the first request.
  static constexpr std::uint32_t first_request = 0x0b0b0b0bu;
  static constexpr std::uint32_t wait_ns = 200;

  /// The words of one size. Requests are counted, and heads read, all the time: each word has its
  /// own cache line.
  struct line {
    alignas(128) std::uint32_t requests;
    alignas(128) std::uint32_t head;
    std::uint32_t lock;
  };

  WARPHEAP_DEVICE simt::atomic_ref<std::uint32_t> lock(std::uint32_t size) const {
    return simt::atomic_ref(lines_[size].lock);
  }
  WARPHEAP_DEVICE bool try_lock(std::uint32_t size) const {
    // Acquire pairs with the release of `unlock`: a holder sees the head that the last one left.
    return lock(size).exchange(1, simt::order::acquire) == 0;
  }
  WARPHEAP_DEVICE void unlock(std::uint32_t size) const {
    lock(size).store(0, simt::order::release);
  }
  WARPHEAP_DEVICE void set_head(std::uint32_t size, std::uint32_t slab) const {
    simt::atomic_ref(lines_[size].head).store(slab, simt::order::relaxed);
  }

  slab_table slabs_;
  line* lines_ = nullptr;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
