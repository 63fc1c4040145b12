// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mistakes in a tiny manager that it denies itself when it is asked afterwards: only what must have
// been served, and what an empty heap holds, by arithmetic, show them.
#include "manager_cases.hpp"

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/simt.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {
namespace {

using names = std::set<std::string>;

enum class slip {
  none,
  takes_two_first,  ///< a large request has a second slot for a moment, so others see none
  keeps_its_size,   ///< two slots, once of a large block, serve no other size
};

/// Slots of 64 bytes, each for one block of any size. A lane that sees no free one notes that the
/// heap is out, until the next free.
///
/// Layout: [ head ][ slots' sizes in use, 0: free: u32 each ][ sizes they keep: u32 each ][ slots
/// ].
template <slip Slip>
class few_slots {
 public:
  using options = no_options;
  static constexpr capabilities about{.name = "few_slots"};
  static constexpr std::uint32_t slot_bytes = 64;
  static constexpr std::uint32_t small_bytes = 16;

  few_slots(const region& memory, const simt::device_properties& /*machine*/, const options&) {
    lay_out_most(memory, about.name, 1u, 1024u, [&](region_cursor& to, std::uint32_t count) {
      count_ = count;
      head_ = to.take<head>(1);
      used_ = to.take<std::uint32_t>(count);
      kept_ = to.take<std::uint32_t>(count);
      slots_ = to.take<std::byte>(count * slot_bytes, slot_bytes);
    });
  }

  std::size_t largest_block() const { return slot_bytes; }

  void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) *head_ = {};
    for (std::uint64_t i = rank; i < count_; i += count) used_[i] = kept_[i] = 0;
  }

  void* malloc(std::size_t bytes) const {
    const auto size = static_cast<std::uint32_t>(bytes);
    const std::uint32_t frees = simt::atomic_ref(head_->frees).load(simt::order::acquire);
    if (simt::atomic_ref(head_->out_since).load(simt::order::relaxed) == frees + 1) return nullptr;
    const std::uint32_t mine = claim(0, size);
    if (Slip == slip::takes_two_first && size > small_bytes) {
      const std::uint32_t second = claim(mine, size);
      if (second < count_) simt::atomic_ref(used_[second]).store(0, simt::order::release);
    }
    if (mine < count_) return slots_ + mine * slot_bytes;
    simt::atomic_ref(head_->out_since).store(frees + 1, simt::order::relaxed);
    return nullptr;
  }

  void free(void* block) const {
    const auto slot =
        static_cast<std::uint32_t>(static_cast<std::byte*>(block) - slots_) / slot_bytes;
    const std::uint32_t size = simt::atomic_ref(used_[slot]).load(simt::order::relaxed);
    // One where empty heaps are taken from, and one that is free where memory ends.
    const bool keeps = slot == 0 || slot + 8 == count_;
    if (Slip == slip::keeps_its_size && keeps && size > small_bytes) {
      simt::atomic_ref(kept_[slot]).store(size, simt::order::relaxed);
    }
    simt::atomic_ref(used_[slot]).store(0, simt::order::release);
    simt::atomic_ref(head_->frees).fetch_add(1, simt::order::release);
  }

  void inspect(std::uint64_t rank, std::uint64_t count, inspection& found) const {
    for (std::uint64_t i = rank; i < count_; i += count) {
      found.in_use(used_[i] != 0 ? 1 : 0, slot_bytes);
    }
  }

 private:
  struct head {
    std::uint32_t frees;
    std::uint32_t out_since;  ///< 1 + the frees before a lane saw no free slot
  };

  /// The first free slot from `first` on; `count_` if there is none.
  std::uint32_t claim(std::uint32_t first, std::uint32_t size) const {
    for (std::uint32_t i = first; i < count_; ++i) {
      std::uint32_t free = 0;
      if (!simt::atomic_ref(used_[i]).compare_exchange(free, size, simt::order::acq_rel)) continue;
      const std::uint32_t kept = simt::atomic_ref(kept_[i]).load(simt::order::relaxed);
      if (kept == 0 || kept == size) return i;
      simt::atomic_ref(used_[i]).store(0, simt::order::release);
    }
    return count_;
  }

  std::uint32_t count_ = 0;
  head* head_ = nullptr;
  std::uint32_t* used_ = nullptr;
  std::uint32_t* kept_ = nullptr;
  std::byte* slots_ = nullptr;
};

/// The cases of every manager that find something.
template <slip Slip>
names found_in() {
  constexpr int slots = 24;
  // What 72 bytes for each slot, and the head, leave for the alignment.
  const setup<few_slots<Slip>> how{.region_bytes = slots * 72 + 64,
                                   .sizes = {16, 40, 64},
                                   .holds = {slots, slots, slots},
                                   .exact_beside_frees = false};
  names found;
  for (const named_case& each : manager_cases(how)) {
    const auto explored = each.make();
    for (const auto memory : {simt::memory_model::sequential, simt::memory_model::weak}) {
      for (std::uint64_t seed = 1; seed <= 800; ++seed) {
        const std::string wrong = explored->run({simt::strategy::pct, seed, memory}, nullptr);
        if (wrong.empty()) continue;
        const bool is_first = found.insert(each.name).second;
        if (is_first) std::printf("%s: %s\n", each.name.c_str(), wrong.c_str());
      }
    }
  }
  return found;
}

TEST(planted_slip, nothing_is_found_where_there_is_none) {
  EXPECT_EQ(found_in<slip::none>(), names{});
}
TEST(planted_slip, a_manager_that_goes_on_believing_that_it_is_exhausted_is_found) {
  EXPECT_EQ(found_in<slip::takes_two_first>(), names{"sizes_meet_with_room"});
}
TEST(planted_slip, a_slot_that_serves_fewer_sizes_than_before_is_found) {
  EXPECT_EQ(found_in<slip::keeps_its_size>(), (names{"churn", "mixed_sizes", "sizes_alternate"}));
}

}  // namespace
}  // namespace verify
WARPHEAP_END_NAMESPACE
