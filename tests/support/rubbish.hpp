// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/region.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <new>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Memory full of rubbish, in which a part of a manager lays itself out.
class rubbish {
 public:
  explicit rubbish(std::size_t bytes)
      : bytes_(bytes), base_(static_cast<std::byte*>(::operator new(bytes, alignment))) {
    std::fill_n(base_, bytes_, filling);
  }
  ~rubbish() { ::operator delete(base_, alignment); }
  rubbish(const rubbish&) = delete;
  rubbish& operator=(const rubbish&) = delete;

  region all() const { return {base_, bytes_}; }
  region_cursor cursor() const { return {all(), "a test"}; }

  std::vector<std::byte> contents() const { return {base_, base_ + bytes_}; }
  bool is_untouched_from(const std::byte* place) const {
    return std::all_of(place, static_cast<const std::byte*>(base_ + bytes_),
                       [](std::byte b) { return b == filling; });
  }
  /// What the cursor has not dealt out.
  bool is_untouched_behind(const region_cursor& dealt) const {
    return is_untouched_from(base_ + bytes_ - dealt.left(1));
  }

 private:
  static constexpr std::align_val_t alignment{4096};
  static constexpr std::byte filling{0xcd};

  std::size_t bytes_;
  std::byte* base_;
};

/// Whether `format(object)` decides about each byte of an object, whatever memory held before: so a
/// run can be repeated. For types without padding.
template <class T, class Format>
bool formats_all_of(const Format& format) {
  alignas(T) std::byte objects[2][sizeof(T)];
  std::fill_n(objects[0], sizeof(T), std::byte{0xcd});
  std::fill_n(objects[1], sizeof(T), std::byte{0x32});
  for (auto& one : objects) format(*reinterpret_cast<T*>(one));
  return std::equal(std::begin(objects[0]), std::end(objects[0]), std::begin(objects[1]));
}

}  // namespace test
WARPHEAP_END_NAMESPACE
