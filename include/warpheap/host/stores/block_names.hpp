// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap::host {

/// How the records of a block table are named, whatever they hold.
struct block_names {
  /// Identifies a record by its offset in the table, in words of 8 bytes: the processor adds that
  /// to the table's address without a multiplication.
  using index = std::uint32_t;

  /// Identifies a block that was handed out without an entry in the hash table. Once the block has
  /// been freed, its handle is refused, even if its record is in use again.
  struct handle {
    std::uint32_t record = 0;  ///< its number
    std::uint32_t serial = 0;  ///< 0: not a block
    friend constexpr bool operator==(handle, handle) = default;
  };

  /// Record 0 stands for "no block". Its links may be written and are never read.
  static constexpr index none = 0;

  /// A link to a neighbour, which says whether that is free. A free that merges with no neighbour
  /// thus reads no neighbour's record, which is rarely in a cache; it only writes there, for which
  /// nothing waits.
  class neighbour {
   public:
    // Implicit, since most uses are of the number alone.
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr neighbour(index to = none, bool is_free = false)
        : word_(to | static_cast<index>(is_free) << 31) {}
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr operator index() const { return word_ & ~free_bit; }
    constexpr bool is_free() const { return word_ >= free_bit; }

   private:
    static constexpr index free_bit = index{1} << 31;
    index word_;
  };
};

}  // namespace warpheap::host
