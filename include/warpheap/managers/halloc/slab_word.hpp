// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace halloc_parts {

/// The whole state of a slab in one word, so that one atomic sees all of it:
///
///     63   38    37    36 32 31          0
///     [ 0 ][ head ][ size ][ chunks in use ]
///
/// A slab without a size is free. Chunks that are being claimed or given back briefly count as in
/// use, even in a free slab.
class slab_word {
 public:
  static constexpr std::uint32_t no_size = 31;

  WARPHEAP_HD constexpr explicit slab_word(std::uint64_t bits) : bits_(bits) {}
  WARPHEAP_HD constexpr slab_word(std::uint32_t used, std::uint32_t size, bool head)
      : bits_(used | std::uint64_t{size} << size_shift | (head ? head_bit : 0)) {}
  WARPHEAP_HD static constexpr slab_word free() { return {0, no_size, false}; }

  WARPHEAP_HD constexpr std::uint64_t bits() const { return bits_; }
  WARPHEAP_HD constexpr std::uint32_t used() const { return static_cast<std::uint32_t>(bits_); }
  WARPHEAP_HD constexpr std::uint32_t size() const {
    return static_cast<std::uint32_t>(bits_ >> size_shift) & no_size;
  }
  WARPHEAP_HD constexpr bool bound() const { return size() != no_size; }
  WARPHEAP_HD constexpr bool head() const { return (bits_ & head_bit) != 0; }

  static constexpr std::uint64_t head_bit = std::uint64_t{1} << 37;

 private:
  static constexpr int size_shift = 32;

  std::uint64_t bits_;
};

}  // namespace halloc_parts
WARPHEAP_END_NAMESPACE
