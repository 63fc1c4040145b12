// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer over ranges of offsets: the input is a program of calls, made in C and in C++, which
// must place every block alike, and checked against a model.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "fuzz_model.hpp"
#include "warpheap/host/c/range.h"
#include "warpheap/host/pools/offset_range.hpp"

using warpheap::host::offset_range;
using warpheap::test::expect;
using warpheap::test::model;

namespace {

/// A range in both languages.
class ranges {
 public:
  ranges(std::uint64_t bytes, std::size_t granule) : in_cpp_(bytes, granule) {
    expect(warpheap_range_create(bytes, granule, &in_c_) == WARPHEAP_OK);
  }
  ~ranges() { warpheap_range_destroy(in_c_); }
  ranges(const ranges&) = delete;
  ranges& operator=(const ranges&) = delete;

  std::optional<warpheap_range_block> allocate(std::uint64_t bytes, std::uint64_t alignment) {
    const warpheap_range_block untouched{1, 2, 3};
    warpheap_range_block block = untouched;
    const warpheap_status got = warpheap_range_allocate(in_c_, bytes, alignment, &block);
    const bool is_valid = bytes != 0 && alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!is_valid) {
      expect(got == WARPHEAP_INVALID_ARGUMENT && same(block, untouched));
      return std::nullopt;
    }
    const warpheap_range_block in_cpp = in_cpp_.allocate(bytes, alignment);
    if (got == WARPHEAP_OUT_OF_MEMORY) {
      expect(in_cpp.bytes == 0 && same(block, untouched));
      return std::nullopt;
    }
    expect(got == WARPHEAP_OK && same(block, in_cpp));
    return block;
  }

  /// The size of the block that was freed; 0 if the handle was refused.
  std::uint64_t free(std::uint64_t handle) {
    const warpheap_status got = warpheap_range_free(in_c_, handle);
    const std::uint64_t bytes = in_cpp_.deallocate(handle);
    expect(got == (bytes != 0 ? WARPHEAP_OK : WARPHEAP_INVALID_ARGUMENT));
    return bytes;
  }

  warpheap_range_stats check() const {
    expect(warpheap_range_check(in_c_) == WARPHEAP_OK && !in_cpp_.check());
    warpheap_range_stats stats;
    warpheap_range_get_stats(in_c_, &stats);
    const warpheap_range_stats in_cpp = in_cpp_.stats();
    expect(stats.bytes_in_use == in_cpp.bytes_in_use && stats.blocks == in_cpp.blocks &&
           stats.holes == in_cpp.holes && stats.largest_hole_bytes == in_cpp.largest_hole_bytes);
    return stats;
  }

  std::uint64_t bytes() const { return in_cpp_.bytes(); }
  std::size_t granule() const { return in_cpp_.granule(); }

 private:
  static bool same(const warpheap_range_block& a, const warpheap_range_block& b) {
    return a.offset == b.offset && a.bytes == b.bytes && a.handle == b.handle;
  }

  offset_range in_cpp_;
  warpheap_range* in_c_ = nullptr;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::size_t granule = std::size_t{1} << data[0] % 13;
  // Small ranges, which fill up, and some as large as there can be.
  const std::uint64_t granules = 1 + (data[1] | data[2] << 8);
  const std::uint64_t bytes = data[3] < 250 ? granules * granule + data[3] % granule
                                            : offset_range::most_bytes - data[3] % 2;
  ranges range(bytes, granule);
  model held;
  std::map<std::uint64_t, std::uint64_t> handles;  // by offset
  std::uint64_t freed = 0;                         // the handle of the last block freed
  for (std::size_t at = 4; at + 3 < size; at += 4) {
    const std::uint8_t* step = data + at;
    const std::uint64_t number = step[1] | step[2] << 8;
    if (step[0] < 130 || held.empty()) {
      // Mostly small sizes, some larger than any range.
      const unsigned shift = step[3] >= 250 ? step[3] % 6 * 9 : step[0] % 8;
      // Mostly powers of two, some not.
      const std::uint64_t alignment = (std::uint64_t{1} << (step[3] >> 2) % 20) - (step[3] == 7);
      const auto block = range.allocate(number << shift, alignment);
      if (!block) continue;
      expect(block->bytes >= number << shift && block->bytes % granule == 0);
      expect(block->offset % alignment == 0 && block->offset % granule == 0);
      expect(block->offset + block->bytes <= range.bytes() && block->handle != 0);
      held.add(block->offset, block->bytes);
      handles[block->offset] = block->handle;
    } else if (step[0] < 230) {
      const std::uint64_t offset = held.pick(number);
      const std::uint64_t before = held.bytes();
      freed = handles.at(offset);
      held.remove(offset);
      handles.erase(offset);
      expect(range.free(freed) == before - held.bytes());
      expect(range.free(freed) == 0);
    } else if (step[0] < 245) {
      // A handle of no live block: its record has been freed or reused, or never was.
      expect(range.free(freed) == 0);
      const std::uint64_t made_up = handles.begin()->second ^ (std::uint64_t{1} << number % 64);
      bool is_live = false;
      for (const auto& [offset, handle] : handles) is_live |= handle == made_up;
      if (!is_live) expect(range.free(made_up) == 0);
    } else if (step[3] < 32) {
      expect(range.check().blocks == held.count());
    }
  }
  const warpheap_range_stats full = range.check();
  expect(full.blocks == held.count() && full.bytes_in_use == held.bytes());
  for (const auto& [offset, handle] : handles) expect(range.free(handle) != 0);
  const warpheap_range_stats empty = range.check();
  expect(empty.blocks == 0 && empty.holes == 1 && empty.largest_hole_bytes == range.bytes());
  return 0;
}
