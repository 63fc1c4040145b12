// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace checking {

// A guard may belong to a neighbour whose owner frees it meanwhile, in a program that is wrong
// anyway: that read is a race on purpose. The reader looks at the neighbour's record before and
// after.
#if !WARPHEAP_CUDA_MODEL && WARPHEAP_THREAD_SANITIZER
#define WARPHEAP_RACY_READ __attribute__((no_sanitize("thread"), noinline))
#else
#define WARPHEAP_RACY_READ
#endif

inline constexpr std::byte guard_byte{0xa5};
inline constexpr std::byte poison_byte{0xdb};

/// Bytes before a block. With the least that lies behind one, no two blocks begin within 64 bytes.
inline constexpr std::size_t front_bytes = 32;
/// Bytes behind a block, at least; as many more as round it up to a multiple of 16.
inline constexpr std::size_t least_rear_bytes = 32;

WARPHEAP_HD constexpr std::size_t rear_bytes(std::size_t bytes) {
  return round_up<std::size_t>(bytes + least_rear_bytes, 16) - bytes;
}
/// Bytes of a block with its guards.
WARPHEAP_HD constexpr std::size_t footprint(std::size_t bytes) {
  return front_bytes + bytes + rear_bytes(bytes);
}
/// The largest block whose footprint is at most `room`.
WARPHEAP_HD constexpr std::size_t largest_within(std::size_t room) {
  return room < footprint(1) ? 0 : (room - front_bytes) / 16 * 16 - least_rear_bytes;
}

/// Where bytes differ from what they should be.
struct damage {
  bool any = false;
  bool all = false;
  bool first = false;
  bool last = false;
  const std::byte* where = nullptr;  ///< the first one
};

/// O(count).
WARPHEAP_RACY_READ WARPHEAP_DEVICE inline damage damage_of(const std::byte* bytes,
                                                           std::size_t count,
                                                           std::byte expected = guard_byte) {
  damage found{.all = true};
  for (std::size_t i = 0; i < count; ++i) {
    // Volatile: not from a cache that other multiprocessors do not write to.
    const bool bad = *static_cast<const volatile std::byte*>(bytes + i) != expected;
    if (bad && !found.any) found.where = bytes + i;
    found.any |= bad;
    found.all &= bad;
    if (i == 0) found.first = bad;
    found.last = bad;
  }
  return found;
}

WARPHEAP_DEVICE inline damage damage_before(const std::byte* block) {
  return damage_of(block - front_bytes, front_bytes);
}
WARPHEAP_DEVICE inline damage damage_behind(const std::byte* block, std::size_t bytes) {
  return damage_of(block + bytes, rear_bytes(bytes));
}

WARPHEAP_DEVICE inline void write(std::byte* to, std::size_t count, std::byte value) {
  for (std::size_t i = 0; i < count; ++i) to[i] = value;
}
WARPHEAP_DEVICE inline void put_guards(std::byte* block, std::size_t bytes) {
  write(block - front_bytes, front_bytes, guard_byte);
  write(block + bytes, rear_bytes(bytes), guard_byte);
}

}  // namespace checking
WARPHEAP_END_NAMESPACE
