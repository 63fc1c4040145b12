// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "managers/xmalloc/setups.hpp"
#include "manager_world.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A heap without memory but for two blocks, which fill the list of the first block's lanes. Two of
/// these free a block each, of the same Superblock, which take both to it as the list is full, and
/// ask again; two others take what is in the list. There are as many blocks as requests, and who
/// asks again has freed one before: whatever that lane sees, a free has ended only when nobody of
/// its group has the Superblock in hand.
class given_back : public heap_world {
 public:
  static constexpr simt::grid shape{2, 2};

  explicit given_back(const any_setup& how) : heap_world(how) {
    heap.run_quietly([this] {
      std::vector<std::byte*> all;
      while (std::byte* const block = heap.take(bytes)) all.push_back(block);
      std::sort(all.begin(), all.end());
      freed_ = {all[0], all[1]};
      heap.give(all[all.size() / 2]);
      heap.give(all[all.size() / 2 + 1]);
    });
    for (std::byte* const block : freed_) heap.blocks().remove(block);
    heap.keep_state();
  }

  void reset(std::uint64_t seed) {
    heap_world::reset(seed);
    for (std::byte* const block : freed_) heap.adopt(block, bytes);
  }

  void lane() {
    if (simt::block_rank() == 0) heap.give(freed_[static_cast<std::size_t>(simt::lane_id())]);
    if (heap.take(bytes) == nullptr && !simt::runtime::memory_is_weak()) {
      heap.blocks().note("null, and there was a block for each request");
    }
  }

 private:
  static constexpr std::uint32_t bytes = 48;

  std::vector<std::byte*> freed_;
};

inline std::vector<named_case> given_back_cases(const any_setup& how) {
  return {case_of<given_back>("given_back", how)};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
