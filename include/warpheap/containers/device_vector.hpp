// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/containers/block_heap.hpp"
#include "warpheap/containers/team.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/capabilities.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

/// A vector in one block, which grows in a kernel. It has 16 bytes and is trivially copyable; zero
/// bytes are an empty vector. It does not store the heap: functions that allocate or free take the
/// handle. Only `clear` frees the block.
///
/// Only one lane or one team may change it at a time (there are no locks); `containers::team` says
/// where it must be then. Growing and shrinking move the elements and invalidate pointers to them.
///
/// The size of its block is a power of two, at least 16 bytes. If the heap is exhausted, or the
/// block would be larger than the heap's largest, the vector is unchanged.
template <containers::block_element T>
class device_vector {
 public:
  /// The number of elements. O(1), as everything up to `bytes_for`.
  WARPHEAP_HD std::uint32_t size() const { return size_; }
  WARPHEAP_HD bool empty() const { return size_ == 0; }
  /// The number of elements that fit without growing.
  WARPHEAP_HD std::uint32_t capacity() const { return capacity_; }
  /// Bytes of the block; 0 without one.
  WARPHEAP_HD std::uint64_t block_bytes() const {
    return capacity_ == 0 ? 0 : bytes_for(capacity_);
  }
  /// The first element; null without a block.
  WARPHEAP_HD T* data() const { return data_; }
  WARPHEAP_HD T* begin() const { return data_; }
  WARPHEAP_HD T* end() const { return data_ + size_; }
  /// \pre `i < size()`
  WARPHEAP_HD T& operator[](std::uint32_t i) const { return data_[i]; }

  /// Bytes of the block of a vector with room for `count` elements.
  WARPHEAP_HD static constexpr std::uint64_t bytes_for(std::uint64_t count) {
    const std::uint64_t bytes = count * sizeof(T);
    return bytes <= least_alignment ? least_alignment : std::uint64_t{1} << ceil_log2(bytes);
  }

  /// Appends a value. By a lane. False, and nothing changes, if there is no room and no memory.
  /// Amortised O(1).
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE bool push(const Heap& heap, const T& value) {
    return push(heap, containers::lane_alone{}, true, value);
  }
  /// Appends the values of the members that want it, in their order. A collective. False for the
  /// members whose value found no room: the last ones, if memory is exhausted.
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE bool push(const Heap& heap, const Team& members, bool wants, const T& value) {
    const auto wanted = containers::sum_over(members, wants ? 1u : 0u);
    const std::uint32_t before = size_;
    // What does not fit even in a vector that cannot grow is refused below.
    reserve(heap, members, std::uint64_t{before} + wanted.total);
    const std::uint32_t room = capacity_ - before;
    const bool fits = wants && wanted.before < room;
    if (fits) data_[before + wanted.before] = value;
    members.sync();
    if (members.is_leader()) size_ = before + (wanted.total < room ? wanted.total : room);
    members.sync();
    return fits;
  }

  /// Makes room for a total of `count` elements. By a lane. False, and nothing changes, if there is
  /// no memory. O(size) if it grows.
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE bool reserve(const Heap& heap, std::uint64_t count) {
    return reserve(heap, containers::lane_alone{}, count);
  }
  /// The same by a team, all with the same count. A collective.
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE bool reserve(const Heap& heap, const Team& members, std::uint64_t count) {
    if (count <= capacity_) return true;
    return count <= most && relocate(heap, members, bytes_for(count));
  }

  /// Moves the elements to the smallest block that holds them, if that is smaller; without elements
  /// it frees the block. By a lane. If there is no memory for the smaller block, the larger one
  /// stays, which is not an error. O(size).
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void shrink(const Heap& heap) {
    shrink(heap, containers::lane_alone{});
  }
  /// The same by a team. A collective.
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE void shrink(const Heap& heap, const Team& members) {
    if (size_ == 0) {
      clear(heap, members);
    } else if (bytes_for(size_) < block_bytes()) {
      relocate(heap, members, bytes_for(size_));
    }
  }

  /// Sets the size, after the caller has written or dropped elements itself. By one lane.
  /// \pre `count <= capacity()`
  WARPHEAP_DEVICE void set_size(std::uint32_t count) { size_ = count; }

  /// Takes over a block that the caller has filled, and returns the old one, which the caller frees
  /// (null without one). By one lane.
  /// \pre `data` has `bytes_for(count)` bytes
  [[nodiscard]] WARPHEAP_DEVICE T* replace(T* data, std::uint32_t count) {
    T* const old = data_;
    data_ = data;
    size_ = count;
    capacity_ = static_cast<std::uint32_t>(bytes_for(count) / sizeof(T));
    return old;
  }

  /// Frees the block; the vector is empty. By a lane.
  template <containers::block_heap Heap>
  WARPHEAP_DEVICE void clear(const Heap& heap) {
    clear(heap, containers::lane_alone{});
  }
  /// The same by a team. A collective.
  template <containers::block_heap Heap, containers::team Team>
  WARPHEAP_DEVICE void clear(const Heap& heap, const Team& members) {
    members.sync();  // members may still read
    if (members.is_leader()) {
      heap.free(data_);
      *this = device_vector();
    }
    members.sync();
  }

 private:
  static constexpr std::uint64_t most = std::uint64_t{1} << 31;

  /// \pre the elements fit in `bytes`
  template <class Heap, class Team>
  WARPHEAP_DEVICE bool relocate(const Heap& heap, const Team& members, std::uint64_t bytes) {
    T* const block = static_cast<T*>(containers::malloc_for(members, heap, bytes));
    if (block == nullptr) return false;
    const auto step = static_cast<std::uint32_t>(members.size());
    for (auto i = static_cast<std::uint32_t>(members.rank()); i < size_; i += step) {
      block[i] = data_[i];
    }
    // All have read the old block before the leader frees it.
    members.sync();
    if (members.is_leader()) {
      heap.free(data_);
      data_ = block;
      capacity_ = static_cast<std::uint32_t>(bytes / sizeof(T));
    }
    members.sync();
    return true;
  }

  T* data_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

WARPHEAP_END_NAMESPACE
