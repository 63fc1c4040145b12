// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The memory of a table where the system's addresses do not begin with a huge page. Newer kernels
// begin there, so a mmap takes their place in a class of another name.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "mapped_bytes.hpp"
#include "warpheap/core/units.hpp"

/// `bytes` bytes that do not begin with a huge page.
inline void* unaligned_mmap(void* hint, std::size_t bytes, int access, int flags, int file,
                            long offset) {
  constexpr std::size_t page = 4096;
  void* const start = mmap(hint, bytes + page, access, flags, file, offset);
  if (start == MAP_FAILED) return start;
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(start) % (std::size_t{2} << 20) == 0;
  char* const first = static_cast<char*>(start) + (is_aligned ? page : 0);
  munmap(is_aligned ? start : first + bytes, page);
  return first;
}

#define table_memory unaligned_table_memory
#define mmap unaligned_mmap
#include "warpheap/host/stores/table_memory.hpp"
#undef mmap
#undef table_memory

namespace warpheap::host {
namespace {

TEST(table_memory, has_no_addresses_before_its_own) {
  const std::size_t before = mapped_bytes();
  unaligned_table_memory table;
  ASSERT_TRUE(table.grow(0, 8_MiB));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.place()) % 2_MiB, 0u);
  EXPECT_EQ(mapped_bytes(), before + 8_MiB);
}

}  // namespace
}  // namespace warpheap::host
