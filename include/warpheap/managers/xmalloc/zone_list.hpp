// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The Memoryblocks of one zone: a linked list of those that begin in it, free and in use. A search
/// looks at the free ones (free_rings.hpp); a block that is freed merges with free neighbours of
/// its zone.
///
/// Everything that says `\pre locked` is plain access under the zone's lock, so headers of
/// neighbours, which are read and changed while blocks merge and split, never go out of date. A
/// block is cut off the end of a free one, which keeps its place in its ring unless it is now of
/// another one. How large a block may be is known, at least to its ring: a futile search records
/// its size, and searches for that or more return at once until a merged block is that large.

#include "warpheap/managers/xmalloc/free_rings.hpp"
#include "warpheap/managers/xmalloc/geometry.hpp"
#include "warpheap/managers/xmalloc/zone_rooms.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace xmalloc_parts {

enum class memory_state : std::uint32_t { free = 0, block = 1, superblock = 2 };

/// Before a Memoryblock's first byte.
struct memory_head {
  /// The unit behind the block.
  std::uint32_t next;
  /// `none` for the first of its zone.
  std::uint32_t prev;
  memory_state state;
  /// A block_word, of a block in use.
  std::uint32_t word;
};

/// Lives for one call.
template <xmalloc_config Config>
class zone_list {
  using sizes = geometry<Config>;

 public:
  WARPHEAP_DEVICE zone_list(const free_rings<sizes>& free, const zone_rooms<Config>& rooms,
                            const zones<Config>& by, std::uint32_t zone, std::byte* base)
      : free_(free),
        rooms_(rooms),
        base_(base),
        zone_(zone),
        begin_(by.begin(zone)),
        end_(by.end(zone)) {}

  /// All of the zone is one free block.
  WARPHEAP_DEVICE void format() const {
    at(begin_) = {end_, none, memory_state::free, 0};
    free_.format();
    free_.link(begin_, end_ - begin_);
  }

  /// The header of the Memoryblock that begins at `unit` of the heap.
  WARPHEAP_HD static memory_head& head_at(std::byte* base, std::uint32_t unit) {
    return *reinterpret_cast<memory_head*>(base + std::size_t{unit} * sizes::unit);
  }
  WARPHEAP_DEVICE std::uint32_t size_of(std::uint32_t unit) const { return at(unit).next - unit; }

  /// A free block of `units` or more; `none` if there is none. \pre locked
  WARPHEAP_DEVICE std::uint32_t search(std::uint32_t units) const {
    if (rooms_.is_out(zone_, units)) return none;
    const std::uint32_t found =
        free_.find(units, [&](std::uint32_t unit) { return size_of(unit); });
    if (found == none) rooms_.set_none_from(zone_, units);
    return found;
  }

  /// A block of the ring of the largest ones, if that is `units` or more; otherwise as `search`.
  /// \pre locked
  WARPHEAP_DEVICE std::uint32_t search_large(std::uint32_t units) const {
    const std::uint32_t found = free_.large();
    return found != none && size_of(found) >= units ? found : search(units);
  }

  /// The last `units` of a free block, or all of it, for use. \pre locked
  WARPHEAP_DEVICE std::uint32_t cut(std::uint32_t unit, std::uint32_t units,
                                    memory_state state) const {
    const std::uint32_t before = size_of(unit);
    const std::uint32_t next = unit + before;
    std::uint32_t taken = unit;
    if (before == units) {
      free_.unlink(unit, before);
    } else {
      taken = next - units;
      join(taken, next);
      at(taken).prev = unit;
      at(unit).next = taken;
      free_.resize(unit, before, before - units);
    }
    at(taken).state = state;
    at(taken).word = block_word::memory().bits();
    lower_none_from();
    if (unit == begin_) rooms_.set_head(zone_, before - units);
    if (next == end_) rooms_.set_tail(zone_, 0);
    return taken;
  }

  /// The first `units` of the zone, which are part of a block that begins in another zone.
  /// \pre locked, and the zone begins with a free block of this many units or more
  WARPHEAP_DEVICE void cut_front(std::uint32_t units) const {
    const std::uint32_t before = size_of(begin_);
    const std::uint32_t next = begin_ + before;
    const std::uint32_t rest = begin_ + units;
    free_.unlink(begin_, before);
    if (rest == next) {
      set_before(next, none);
    } else {
      at(rest) = {next, none, memory_state::free, 0};
      set_before(next, rest);
      free_.link(rest, next - rest);
    }
    lower_none_from();
    rooms_.set_head(zone_, 0);
    if (next == end_) rooms_.set_tail(zone_, next - rest);
  }

  /// Tells the block that begins at `next` which one is before it. What begins behind the zone does
  /// not know. \pre locked
  WARPHEAP_DEVICE void set_before(std::uint32_t next, std::uint32_t unit) const {
    if (next != end_) at(next).prev = unit;
  }

  /// Frees the block of this zone from `unit` to `end`, and merges it with its free neighbours.
  /// \pre locked; the block's header says what is before it, and that it is not free
  WARPHEAP_DEVICE void give(std::uint32_t unit, std::uint32_t end) const {
    join(unit, end);
    const std::uint32_t whole = merge(unit);
    const std::uint32_t size = size_of(whole);
    if (rooms_.is_out(zone_, size)) rooms_.set_none_from(zone_, size + 1);
    if (whole == begin_) rooms_.set_head(zone_, size);
    if (whole + size == end_) rooms_.set_tail(zone_, size);
  }

 private:
  WARPHEAP_DEVICE memory_head& at(std::uint32_t unit) const { return head_at(base_, unit); }

  /// Returns the block that the freed one is then a part of.
  WARPHEAP_DEVICE std::uint32_t merge(std::uint32_t unit) const {
    memory_head& freed = at(unit);
    freed.state = memory_state::free;
    if (freed.next != end_ && at(freed.next).state == memory_state::free) {
      free_.unlink(freed.next, size_of(freed.next));
      join(unit, at(freed.next).next);
    }
    if (freed.prev != none && at(freed.prev).state == memory_state::free) {
      const std::uint32_t front = freed.prev;
      const std::uint32_t before = size_of(front);
      join(front, freed.next);
      free_.resize(front, before, size_of(front));
      return front;
    }
    free_.link(unit, size_of(unit));
    return unit;
  }

  /// After a block has become smaller. Otherwise, lanes would find out one after the other, each
  /// with a turn at the lock, that there is none as large any more.
  WARPHEAP_DEVICE void lower_none_from() const {
    const std::uint32_t units = free_.none_from();
    if (!rooms_.is_out(zone_, units)) rooms_.set_none_from(zone_, units);
  }

  WARPHEAP_DEVICE void join(std::uint32_t unit, std::uint32_t next) const {
    at(unit).next = next;
    set_before(next, unit);
  }

  const free_rings<sizes> free_;
  const zone_rooms<Config>& rooms_;
  std::byte* base_;
  std::uint32_t zone_;
  std::uint32_t begin_;
  std::uint32_t end_;
};

}  // namespace xmalloc_parts
WARPHEAP_END_NAMESPACE
