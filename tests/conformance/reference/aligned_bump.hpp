// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Mistakes that the suites of the abilities must find.
enum class bump_fault {
  none,
  ignores_alignment,  ///< aligned blocks are as others
  tells_too_little,   ///< blocks are said to be smaller than was asked for
};

/// The simplest manager with every ability of a block manager: a counter, and in front of each
/// block its size.
///
/// Layout: [ counter u64 ][ size u64 | block ][ size u64 | block ] ...
template <bump_fault Fault = bump_fault::none>
class aligned_bump {
 public:
  using options = no_options;
  static constexpr capabilities about{
      .name = "aligned_bump", .frees = false, .reuse = memory_reuse::none};

  aligned_bump(const region& memory, const simt::device_properties& /*machine*/,
               const options& /*none*/) {
    region_cursor cursor(memory, about.name);
    used_ = cursor.take<std::uint64_t>(1);
    bytes_ = cursor.left(16) < 48 ? 48 : cursor.left(16) / 16 * 16;
    base_ = cursor.take<std::byte>(bytes_, 16);
  }

  WARPHEAP_HD std::size_t largest_block() const { return bytes_ - 16; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t /*count*/) const {
    if (rank == 0) *used_ = 0;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    return take(bytes, 16);
  }
  WARPHEAP_DEVICE void* aligned_malloc(std::size_t alignment, std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    return take(bytes, alignment < 16 || Fault == bump_fault::ignores_alignment ? 16 : alignment);
  }
  WARPHEAP_DEVICE bool can_align(std::size_t alignment, std::size_t bytes) const {
    const auto base = reinterpret_cast<std::uintptr_t>(base_);
    const std::size_t before = round_up<std::uintptr_t>(base + 8, alignment) - base;
    return before <= bytes_ && bytes <= bytes_ - before;
  }
  WARPHEAP_DEVICE void free(void* /*block*/) const {}
  WARPHEAP_DEVICE std::size_t usable_size(void* block) const {
    return static_cast<std::uint64_t*>(block)[-1] / (Fault == bump_fault::tells_too_little ? 2 : 1);
  }
  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t /*count*/,
                               inspection& findings) const {
    if (rank == 0) findings.in_use(*used_ == 0 ? 0 : 1, *used_);
  }

 private:
  WARPHEAP_DEVICE void* take(std::size_t bytes, std::size_t alignment) const {
    const simt::atomic_ref used(*used_);
    // A look first: the counter cannot run over however often requests fail.
    if (used.load(simt::order::relaxed) + bytes > bytes_) return nullptr;
    const std::uint64_t need = round_up<std::uint64_t>(bytes, 16) + alignment;
    const std::uint64_t start = used.fetch_add(need, simt::order::relaxed);
    const auto address =
        round_up<std::uintptr_t>(reinterpret_cast<std::uintptr_t>(base_) + start + 8, alignment);
    const auto end = reinterpret_cast<std::uintptr_t>(base_) + bytes_;
    if (start + need > bytes_ && address + bytes > end) return nullptr;
    auto* block = reinterpret_cast<std::uint64_t*>(address);
    block[-1] = bytes;
    return block;
  }

  std::uint64_t* used_;
  std::byte* base_;
  std::size_t bytes_;
};

}  // namespace test
WARPHEAP_END_NAMESPACE
