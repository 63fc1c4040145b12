// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/block_heap.hpp"
#include "warpheap/containers/team.hpp"
#include "warpheap/core/assert.hpp"
#include "warpheap/heap/capabilities.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// Elements in a chain of pages of one size, each of which is a block of the heap: for output whose
/// size is not known in advance. Elements never move. It does not store the heap: functions that
/// allocate or free take the handle. Only `clear` and `truncate` free pages. It has 32 bytes and is
/// trivially copyable.
///
/// Only one lane or one team may change it at a time (there are no locks); `containers::team` says
/// where it must be then.
///
///     first ->  [ next | used | elements ... ]  ->  [ next | used | elements ... ]  <- last
template <containers::block_element T>
class page_chain {
 public:
  /// The header of a page; the elements follow it.
  struct alignas(least_alignment) page {
    page* next;
    std::uint32_t used;

    /// The first of them; `used` are there.
    WARPHEAP_HD T* elements() { return reinterpret_cast<T*>(this + 1); }
  };

  /// The number of elements that a page of `page_bytes` holds; 0 if it is too small for one.
  WARPHEAP_HD static constexpr std::uint32_t capacity_of(std::uint32_t page_bytes) {
    return page_bytes < sizeof(page)
               ? 0
               : static_cast<std::uint32_t>((page_bytes - sizeof(page)) / sizeof(T));
  }

  /// \param page_bytes size of each page, including its header of 16 bytes
  /// \pre `capacity_of(page_bytes) != 0`
  WARPHEAP_HD explicit page_chain(std::uint32_t page_bytes = 4096) : page_bytes_(page_bytes) {
    WARPHEAP_ASSERT(capacity_of(page_bytes) != 0);
  }

  /// Bytes of each page, including its header.
  WARPHEAP_HD std::uint32_t page_bytes() const { return page_bytes_; }
  /// The number of elements that a page holds.
  WARPHEAP_HD std::uint32_t page_capacity() const { return capacity_of(page_bytes_); }
  /// The number of elements in all pages.
  WARPHEAP_HD std::uint64_t size() const { return size_; }
  /// Whether there are no elements.
  WARPHEAP_HD bool empty() const { return size_ == 0; }
  /// The first page, for callers that walk the chain themselves; null without one.
  WARPHEAP_HD page* first() const { return first_; }

  /// Room for `count` adjacent elements, which the caller writes: in the last page or, if they do
  /// not fit there, in a new one. By a lane. Null, and nothing changes, if there is no memory, or
  /// if `count` is 0 or above `page_capacity()`. O(1).
  template <containers::block_heap Heap>
  [[nodiscard]] WARPHEAP_DEVICE T* append(const Heap& heap, std::uint32_t count) {
    return append(heap, containers::lane_alone{}, count);
  }
  /// The same by a team: all members pass the same count and get the same place. A collective.
  template <containers::block_heap Heap, containers::team Team>
  [[nodiscard]] WARPHEAP_DEVICE T* append(const Heap& heap, const Team& members,
                                          std::uint32_t count) {
    if (count == 0 || count > page_capacity()) return nullptr;
    if (count > room_in_last() && !add_page(heap, members)) return nullptr;
    T* const place = last_->elements() + last_->used;
    members.sync();
    take(members, count);
    return place;
  }

  /// Appends a value. By a lane. False, and nothing changes, if there is no room and no memory.
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE bool push(const Heap& heap, const T& value) {
    return push(heap, containers::lane_alone{}, true, value);
  }
  /// Appends the values of the members that want it, in their order, and fills every page. A
  /// collective. False for the members whose value found no room: the last ones, if memory is
  /// exhausted. O(members / page_capacity()).
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE bool push(const Heap& heap, const Team& members, bool wants, const T& value) {
    const auto wanted = containers::sum_over(members, wants ? 1u : 0u);
    std::uint32_t done = 0;
    while (done < wanted.total) {
      if (room_in_last() == 0 && !add_page(heap, members)) break;
      const std::uint32_t room = room_in_last();
      const std::uint32_t left = wanted.total - done;
      const std::uint32_t now = left < room ? left : room;
      if (wants && wanted.before >= done && wanted.before < done + now) {
        last_->elements()[last_->used + (wanted.before - done)] = value;
      }
      members.sync();
      take(members, now);
      done += now;
    }
    return wants && wanted.before < done;
  }

  /// Calls `f(elements, count)` for each page in order. By one lane.
  template <class Visit>
  WARPHEAP_DEVICE void for_each_page(const Visit& f) const {
    for (page* p = first_; p != nullptr; p = p->next) f(p->elements(), p->used);
  }
  /// Calls `f(element)` for each element in order. By one lane.
  template <class Visit>
  WARPHEAP_DEVICE void for_each(const Visit& f) const {
    for_each(containers::lane_alone{}, f);
  }
  /// The members share the elements of each page. No collective happens, so `f` may not rely on the
  /// others.
  template <containers::team Team, class Visit>
  WARPHEAP_DEVICE void for_each(const Team& members, const Visit& f) const {
    const auto step = static_cast<std::uint32_t>(members.size());
    for (page* p = first_; p != nullptr; p = p->next) {
      for (auto i = static_cast<std::uint32_t>(members.rank()); i < p->used; i += step) {
        f(p->elements()[i]);
      }
    }
  }

  /// Keeps the first `count` elements and frees the pages behind them. By one lane.
  /// \pre `count <= size()`. O(pages)
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void truncate(const Heap& heap, std::uint64_t count) {
    page* end = nullptr;
    page* rest = first_;
    for (std::uint64_t left = count; left != 0; end = rest, rest = rest->next) {
      if (rest->used > left) rest->used = static_cast<std::uint32_t>(left);
      left -= rest->used;
    }
    (end == nullptr ? first_ : end->next) = nullptr;
    last_ = end;
    size_ = count;
    while (rest != nullptr) {
      page* const next = rest->next;
      heap.free(rest);
      rest = next;
    }
  }

  /// Frees all pages; the chain is empty and keeps its page size. By one lane. O(pages).
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void clear(const Heap& heap) {
    truncate(heap, 0);
  }

 private:
  WARPHEAP_HD std::uint32_t room_in_last() const {
    return last_ == nullptr ? 0 : page_capacity() - last_->used;
  }

  /// \pre all members have read what they need of the last page
  template <class Heap, class Team>
  WARPHEAP_DEVICE bool add_page(const Heap& heap, const Team& members) {
    page* const fresh = static_cast<page*>(containers::malloc_for(members, heap, page_bytes_));
    if (fresh == nullptr) return false;
    if (members.is_leader()) {
      *fresh = {nullptr, 0};
      (last_ == nullptr ? first_ : last_->next) = fresh;
      last_ = fresh;
    }
    members.sync();
    return true;
  }

  /// Counts `count` elements of the last page as used. \pre a sync since members read `used`
  template <class Team>
  WARPHEAP_DEVICE void take(const Team& members, std::uint32_t count) {
    if (members.is_leader()) {
      last_->used += count;
      size_ += count;
    }
    members.sync();
  }

  page* first_ = nullptr;
  page* last_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint32_t page_bytes_;
};

WARPHEAP_END_NAMESPACE
