// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "heap/setups.hpp"

#include "warpheap/heap/layers/arena_blocks.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Pieces of six granules. The third size is too large for one. The state and the words of the
/// pages take 1024 bytes.
template <class Arena>
setup<Arena> arena_setup() {
  constexpr int pages = (8192 - 1024) / 128;
  return {.region_bytes = 8192,
          .options = {.piece_bytes = 128, .manager = {.page_bytes = 128}},
          .sizes = {16, 40, 112},
          .holds = {pages * 6, pages * (6 / 3), pages}};
}

/// Two warps take blocks of an arena over a heap of a few pages. Contents are checked at the end,
/// and that releasing leaves nothing.
template <class Arena>
class arena_world {
 public:
  static constexpr simt::grid shape = two_warps;

  explicit arena_world(const setup<Arena>& how)
      : region_(how.region_bytes), arena_(region_.all(), explored_machine(), how.options) {}

  void reset(std::uint64_t /*seed*/) {
    alone_.run({simt::strategy::sticky, 1}, [this] { arena_.format(0, 1); });
    held_ = {};
    handed_out_ = 0;
  }

 protected:
  static constexpr std::size_t most_held = 24;

  struct block {
    std::uint64_t* words = nullptr;
    std::size_t count = 0;
  };
  /// Whether there was one. It is filled with its address, and kept.
  bool take(std::size_t bytes, std::size_t rank) {
    auto* const words = static_cast<std::uint64_t*>(arena_.malloc(bytes));
    if (words == nullptr) return false;
    handed_out_ += round_up<std::uint64_t>(bytes, 16);
    const std::size_t count = bytes / sizeof *words;
    for (std::size_t i = 0; i < count; ++i) words[i] = reinterpret_cast<std::uintptr_t>(words) + i;
    auto* const free_place = std::find_if(held_[rank].begin(), held_[rank].end(),
                                          [](const block& one) { return one.words == nullptr; });
    if (free_place != held_[rank].end()) *free_place = {words, count};
    return true;
  }
  bool all_is_there() const {
    for (const auto& of_lane : held_) {
      for (const block& one : of_lane) {
        for (std::size_t i = 0; i < one.count; ++i) {
          if (one.words[i] != reinterpret_cast<std::uintptr_t>(one.words) + i) return false;
        }
      }
    }
    return true;
  }
  /// Blocks of 16 bytes that a single lane gets until there are none.
  int take_the_rest() {
    int count = 0;
    alone_.run({simt::strategy::sticky, 1}, [&] {
      while (arena_.malloc(16) != nullptr) ++count;
    });
    handed_out_ += std::uint64_t{16} * static_cast<unsigned>(count);
    return count;
  }
  /// What is wrong before a release, or after it.
  std::string released() {
    if (!all_is_there()) return "a block lost its contents";
    inspection before;
    arena_.inspect(0, 1, before);
    if (!holds(before)) return "an invariant does not hold";
    alone_.run({simt::strategy::sticky, 1}, [this] { arena_.release(0, 1); });
    inspection after;
    arena_.inspect(0, 1, after);
    if (!holds(after)) return "an invariant does not hold after the release";
    return after.blocks_in_use == 0
               ? ""
               : std::to_string(after.blocks_in_use) + " blocks are in use after the release";
  }

  exact_memory region_;
  Arena arena_;
  std::array<std::array<block, most_held>, case_lanes> held_{};
  untracked<std::uint64_t> handed_out_ = 0;
  simt::explorer alone_{{1, 1}, 2'000'000};

 private:
  static bool holds(const inspection& found) {
    return std::all_of(std::begin(found.violations), std::end(found.violations),
                       [](std::uint64_t times) { return times == 0; });
  }
};

/// Lanes ask for all sizes until each of them is refused. What a single lane gets then, they were
/// refused wrongly. After the release there are blocks again.
template <class Arena>
class last_pieces : public arena_world<Arena> {
 public:
  last_pieces(const setup<Arena>& how, int pages) : arena_world<Arena>(how) {
    this->reset(0);
    pages_ = static_cast<int>(blocks_of_an_empty_heap()) - pages;
  }

  void reset(std::uint64_t seed) {
    arena_world<Arena>::reset(seed);
    // The others belong to other lanes.
    this->alone_.run({simt::strategy::sticky, 1}, [this] {
      for (int i = 0; i < pages_; ++i) this->arena_.malloc(112);
      this->arena_.begin(0, 1);
    });
  }
  void lane() {
    const auto rank = simt::thread_rank();
    bool served = true;
    for (std::size_t i = 0; i < this->most_held && served; ++i) {
      served = false;
      for (const std::size_t bytes : {112, 16, 40}) {
        if ((i + rank) % 3 == 0 || bytes != 112) served |= this->take(bytes, rank);
      }
    }
  }
  std::string verdict() {
    if (this->take_the_rest() != 0) return "a lane was refused 16 bytes, which were free";
    if (!this->all_is_there()) return "a block lost its contents";
    arena_stats sum;
    this->arena_.measure(0, 1, sum);
    if (sum.handed_out_bytes != this->handed_out_) {
      return std::to_string(this->handed_out_) + " bytes were handed out, the pieces say " +
             std::to_string(sum.handed_out_bytes);
    }
    this->alone_.run({simt::strategy::sticky, 1}, [this] { this->arena_.release(0, 1); });
    inspection after;
    this->arena_.inspect(0, 1, after);
    if (after.blocks_in_use != static_cast<std::uint64_t>(pages_)) {
      return std::to_string(after.blocks_in_use) + " blocks are in use after the release, " +
             std::to_string(pages_) + " are others'";
    }
    const int again = this->take_the_rest();
    return again > 0 ? "" : "there is nothing after the release";
  }

 private:
  std::uint64_t blocks_of_an_empty_heap() {
    std::uint64_t count = 0;
    this->alone_.run({simt::strategy::sticky, 1}, [&] {
      while (this->arena_.malloc(112) != nullptr) ++count;
    });
    return count;
  }

  int pages_ = 0;
};

/// All lanes take, give everything back or keep it, and take again, in one kernel.
template <class Arena>
class again_in_the_kernel : public arena_world<Arena> {
 public:
  again_in_the_kernel(const setup<Arena>& how, bool keeps)
      : arena_world<Arena>(how), keeps_(keeps) {}

  void reset(std::uint64_t seed) {
    arena_world<Arena>::reset(seed);
    arrived_ = {};
    refused_ = 0;
  }
  void lane() {
    const auto rank = simt::thread_rank();
    for (std::size_t round = 0; round < 2; ++round) {
      for (const std::size_t bytes : {40, 112, 16, 40}) {
        if (!this->take(bytes, rank)) ++refused_;
      }
      if (round == 1) return;
      wait_for_all(0);
      this->held_[rank] = {};
      keeps_ ? this->arena_.rewind(rank, case_lanes) : this->arena_.release(rank, case_lanes);
      wait_for_all(1);
    }
  }
  std::string verdict() {
    if (refused_ != 0) return std::to_string(refused_) + " requests were refused, with room";
    return this->released();
  }

 private:
  void wait_for_all(std::size_t time) {
    const simt::atomic_ref<std::uint32_t> arrived(arrived_[time]);
    arrived.fetch_add(1, simt::order::acq_rel);
    // Ends: no lane waits before it has arrived.
    while (arrived.load(simt::order::acquire) != case_lanes) simt::backoff(1);
  }

  bool keeps_;
  alignas(8) std::array<std::uint32_t, 2> arrived_{};
  untracked<int> refused_ = 0;
};

/// Lanes use the heap itself: they write to its blocks and free them. Others find that memory in an
/// arena over the heap, where it is theirs alone. All writes are relaxed, so only what they have
/// acquired orders them.
template <class Arena>
class beside_the_arena {
 public:
  static constexpr simt::grid shape = two_warps;

  explicit beside_the_arena(const setup<Arena>& how)
      : region_(how.region_bytes),
        state_(Arena::state_bytes(1)),
        heap_(region_.all(), explored_machine(), how.options.manager),
        arena_(heap_, how.region_bytes, state_.base(), 1, how.options.piece_bytes) {}

  void reset(std::uint64_t /*seed*/) {
    alone_.run({simt::strategy::sticky, 1}, [this] { arena_.format(0, 1); });
    wrong_ = false;
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    for (std::uint64_t round = 0; round < 3; ++round) {
      const std::uint64_t mark = rank << 32 | round << 16;
      if (rank % 4 == 0) {
        void* const block = heap_.malloc(112);
        if (block == nullptr) continue;
        use(block, 112, mark);
        heap_.free(block);
      } else {
        const std::size_t bytes = rank % 4 == 1 ? 48 : 16;
        void* const block = arena_.malloc(bytes);
        if (block != nullptr) use(block, bytes, mark);
      }
    }
  }

  std::string verdict() { return wrong_ ? "a block has what its last owner wrote" : ""; }

 private:
  void use(void* block, std::size_t bytes, std::uint64_t mark) {
    auto* const words = static_cast<std::uint64_t*>(block);
    const std::size_t count = bytes / sizeof *words;
    for (std::size_t i = 0; i < count; ++i) {
      simt::atomic_ref(words[i]).store(mark + i, simt::order::relaxed);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (simt::atomic_ref(words[i]).load(simt::order::relaxed) != mark + i) wrong_ = true;
    }
  }

  exact_memory region_;
  exact_memory state_;
  layer_base heap_;
  Arena arena_;
  untracked<bool> wrong_ = false;
  simt::explorer alone_{{1, 1}, 2'000'000};
};

template <class Arena>
std::vector<named_case> arena_cases() {
  const auto how = arena_setup<Arena>();
  auto cases = manager_cases(how);
  cases.push_back(case_of<last_pieces<Arena>>("last_pieces", how, 5));
  cases.push_back(case_of<last_pieces<Arena>>("last_piece", how, 1));
  cases.push_back(case_of<again_in_the_kernel<Arena>>("released_in_the_kernel", how, false));
  cases.push_back(case_of<again_in_the_kernel<Arena>>("rewound_in_the_kernel", how, true));
  auto tight = how;
  tight.region_bytes = 768;
  cases.push_back(case_of<beside_the_arena<Arena>>("beside_the_arena", tight));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
