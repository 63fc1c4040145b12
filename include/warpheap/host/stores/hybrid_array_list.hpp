// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "warpheap/host/extent.hpp"

namespace warpheap::host {

/// Extents in address order, in a linked list of small sorted arrays (M. Sara, M. Klaib, M. Hasan,
/// "Hybrid Array List", Indo-JC 5(3), 2020; appendix of the host-based paper). The first chunk is
/// never removed, so that an empty list needs no special case.
///
/// L1: each chunk but the first holds 1 to `Capacity` entries. L2: entries are in ascending order
/// and do not overlap.
///
/// Complexity: search O(chunks + log Capacity), insert and erase O(Capacity), a step O(1). Insert
/// and erase invalidate every position.
template <std::size_t Capacity = 254>
class hybrid_array_list {
  static_assert(Capacity >= 2, "a chunk that is full must be divisible");

  struct chunk {
    std::size_t count = 0;
    chunk* prev = nullptr;
    chunk* next = nullptr;
    std::array<extent, Capacity> entries;
  };

 public:
  struct position {
    chunk* where = nullptr;
    std::size_t at = 0;
    explicit operator bool() const { return where != nullptr; }
    extent& operator*() const { return where->entries[at]; }
    extent* operator->() const { return &where->entries[at]; }
  };

  hybrid_array_list() : head_(new chunk), tail_(head_) {}
  hybrid_array_list(const hybrid_array_list&) = delete;
  hybrid_array_list& operator=(const hybrid_array_list&) = delete;
  ~hybrid_array_list() {
    while (head_ != nullptr) delete std::exchange(head_, head_->next);
  }

  position front() const { return settle({head_, 0}); }
  position next(position from) const { return settle({from.where, from.at + 1}); }

  /// The last entry that starts at or below `base`, or nothing.
  position search(address base) const {
    chunk* where = tail_;
    while (where != nullptr && (where->count == 0 || where->entries[0].base > base)) {
      where = where->prev;
    }
    if (where == nullptr) return {};
    const auto begin = where->entries.begin();
    const auto above = std::upper_bound(begin, begin + where->count, base,
                                        [](address a, const extent& e) { return a < e.base; });
    return {where, static_cast<std::size_t>(above - begin) - 1};
  }

  /// Inserts an entry after a position, or at the front if the position is empty.
  void insert_after(position before, extent entry) {
    position place = before ? position{before.where, before.at + 1} : position{head_, 0};
    if (place.where->count == Capacity) {
      chunk* half = split(place.where);
      if (place.at > place.where->count) place = {half, place.at - place.where->count};
    }
    auto* entries = place.where->entries.data();
    std::move_backward(entries + place.at, entries + place.where->count,
                       entries + place.where->count + 1);
    entries[place.at] = entry;
    ++place.where->count;
  }

  void erase(position gone) {
    auto* entries = gone.where->entries.data();
    std::move(entries + gone.at + 1, entries + gone.where->count, entries + gone.at);
    if (--gone.where->count == 0 && gone.where != head_) remove(gone.where);
  }

  /// Checks L1 and L2. O(entries)
  std::optional<std::string> check() const {
    address lowest = 0;
    for (const chunk* where = head_; where != nullptr; where = where->next) {
      if ((where != head_ && where->count == 0) || where->count > Capacity) {
        return "L1: a chunk has " + std::to_string(where->count) + " entries; it may have 1 to " +
               std::to_string(Capacity);
      }
      for (std::size_t at = 0; at < where->count; ++at) {
        if (where->entries[at].base < lowest) {
          return "L2: the entry at " + to_text(where->entries[at].base) +
                 " overlaps the one before";
        }
        lowest = where->entries[at].end();
      }
    }
    return std::nullopt;
  }

 private:
  // A position one past a chunk's entries means the first entry of the next chunk.
  static position settle(position place) {
    while (place.where != nullptr && place.at >= place.where->count) {
      place = {place.where->next, 0};
    }
    return place;
  }

  chunk* split(chunk* full) {
    auto* half = new chunk;
    half->count = Capacity / 2;
    full->count -= half->count;
    std::copy_n(full->entries.begin() + full->count, half->count, half->entries.begin());
    half->prev = full;
    half->next = full->next;
    (full->next != nullptr ? full->next->prev : tail_) = half;
    full->next = half;
    return half;
  }

  void remove(chunk* gone) {
    gone->prev->next = gone->next;
    (gone->next != nullptr ? gone->next->prev : tail_) = gone->prev;
    delete gone;
  }

  chunk* head_;
  chunk* tail_;
};

}  // namespace warpheap::host
