// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "machine.hpp"
#include "machine_of.hpp"
#include "rubbish.hpp"
#include "small.hpp"

#include "warpheap/core/units.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A heap all of whose memory is in use, in blocks of one size.
class full_of_blocks {
 public:
  using manager = bulk_allocator<small_pages>;

  explicit full_of_blocks(std::size_t bytes) : all_(memory_.all(), machine_of(1), {}) {
    region_cursor cursor(memory_.all(), "the same");
    parts_.lay_out(cursor, all_.pages(), 1);
    machine().launch({1, 1}, [&] {
      all_.format(0, 1);
      while (all_.malloc(bytes) != nullptr) {
      }
    });
  }

  const manager* operator->() const { return &all_; }
  sync::bulk_semaphore units(int order) const { return parts_.buddy().units(order); }
  /// Free bins of all chunks.
  std::int64_t free_bins() const { return parts_.lists().units(parts_.chunks_of(0)).read().count; }
  std::byte* page(std::uint32_t number) const {
    return parts_.table().heap() + number * page_bytes;
  }
  /// A block of 32 bytes. Three lie behind a bin's header, the fourth one in the chunk's first
  /// page.
  std::byte* block(std::uint32_t bin, std::uint32_t i) const {
    return i < 3 ? page(bin) + (i + 1) * 32 : page(bin / 4 * 4) + bin % 4 * 32;
  }
  void free_of_bin(std::uint32_t bin, std::uint32_t blocks) const {
    for (std::uint32_t i = 0; i < blocks; ++i) all_.free(block(bin, i));
  }
  const rubbish& memory() const { return memory_; }

 private:
  static constexpr std::size_t page_bytes = small_pages.page_bytes;

  rubbish memory_{8_KiB};
  manager all_;
  bulk_parts::arenas<small_pages> parts_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
