// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// For tests of heaps that are far larger than the machine's memory.

#include "machine.hpp"
#include "machine_of.hpp"

#include "warpheap/heap/region.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/bitmap_tree.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

inline simt::device_properties small_machine(std::uint32_t multiprocessors = 4) {
  return machine_of(multiprocessors, 64);
}

template <class Act>
void in_a_lane(const Act& act) {
  machine().launch({1, 1}, act);
}

/// Memory that costs nothing until it is touched, and is zero then.
class untouched_memory {
 public:
  explicit untouched_memory(std::size_t bytes)
      : bytes_(bytes),
        base_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~untouched_memory() {
    if (there()) ::munmap(base_, bytes_);
  }
  untouched_memory(const untouched_memory&) = delete;
  untouched_memory& operator=(const untouched_memory&) = delete;

  bool there() const { return base_ != MAP_FAILED; }
  region all() const { return {static_cast<std::byte*>(base_), bytes_}; }

 private:
  std::size_t bytes_;
  void* base_;
};

/// Calls `examine` with untouched memory of this size. Skips the test where there is none.
template <class Examine>
void in_region_of(std::size_t bytes, const Examine& examine) {
  if (sanitized) GTEST_SKIP() << "the sanitizer has no such address space";
  const untouched_memory memory(bytes);
  if (!memory.there()) GTEST_SKIP() << "no " << bytes << " bytes of addresses";
  SCOPED_TRACE(std::to_string(bytes) + " bytes");
  examine(memory.all());
}

constexpr std::size_t operator""_TiB(unsigned long long n) { return n << 40; }

/// More lanes than any table has words: each writes at most one word of each.
constexpr std::uint64_t grid = std::uint64_t{1} << 40;

/// What the first lanes of the grid write. What the others would write is zero, which is there, but
/// for sets of free units and lists of them.
template <class M>
void format_fronts(const M& manager, std::uint64_t lanes) {
  for (std::uint64_t rank = 0; rank < lanes; ++rank) manager.format(rank, grid);
}

/// Empties a set of which as many lanes have written the fronts.
inline void clear_fronts(const bitmap_tree& set, std::uint64_t lanes) {
  for (std::uint64_t rank = 0; rank < lanes; ++rank) set.format(0, rank, grid);
}

}  // namespace test
WARPHEAP_END_NAMESPACE
