// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The cases that every manager of warp heaps is explored in: `warp_heap_cases`.

#include "any_warp_heaps.hpp"
#include "exact_memory.hpp"
#include "ledger.hpp"
#include "manager_world.hpp"
#include "scenario.hpp"
#include "small_heap.hpp"
#include "untracked.hpp"

#include "warpheap/heap/inspection.hpp"
#include "warpheap/simt/cpu/explorer.hpp"
#include "warpheap/simt/simt.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// How a manager of warp heaps is set up, as small as possible.
struct warp_heap_setup {
  warp_heap_maker manager;
  /// Room for a warp heap of each of eight lanes, and three blocks in each.
  std::size_t roomy_bytes;
  /// Blocks of the first size that this is room for: arithmetic from the layout.
  int roomy_blocks;
  /// Not for eight lanes that take what they can.
  std::size_t scarce_bytes;
  int scarce_blocks;
  std::vector<std::uint32_t> sizes;
  /// Memory in pieces of this size, at multiples of it, is one warp heap's or nobody's.
  std::uint32_t unit_bytes;
  /// Of the scarce heap: bytes before the first one, and how many there are.
  std::size_t scarce_front;
  std::size_t scarce_units;
};

/// Warp heaps in a region that is put back into its first state by a copy.
class warp_heap_world {
 public:
  static constexpr simt::grid shape = two_warps;

  /// \param blocks of the first size that the region holds
  warp_heap_world(const warp_heap_maker& manager, std::size_t region_bytes, int blocks,
                  const std::vector<std::uint32_t>& sizes)
      : bytes_(region_bytes),
        sizes_(sizes),
        capacity_(blocks),
        alignment_(manager.alignment),
        region_(region_bytes),
        manager_(manager.make(region_.all())) {
    format_in_any_order(
        manager.name, region_.all(),
        [this](std::uint64_t rank, std::uint64_t count) { manager_->format(rank, count); });
    keep_state();
  }

  void reset(std::uint64_t /*seed*/) {
    std::memcpy(region_.base(), state_.data(), bytes_);
    ledger_.reset(region_.base(), region_.base() + bytes_, alignment_);
  }

  /// Two warp heaps have pieces of one SuperBlock and of several, and a third one has ended.
  damaged_heap damaged() {
    const auto populate = [this] {
      warp_heap_world::reset(0);
      run_alone([this] {
        for (const bool ends : {false, true, false}) {
          auto mine = begin();
          for (std::uint64_t i = 0; has_room(mine) && take(mine, i); ++i) {
          }
          if (ends) end(mine);
        }
      });
    };
    const auto inspect = [this](inspection& found) { manager_->inspect(found); };
    return {{reinterpret_cast<std::uint32_t*>(region_.base()), bytes_ / sizeof(std::uint32_t)},
            inspect,
            populate};
  }

  /// All lanes have ended their heaps: nothing is in use, and all memory can be allocated again,
  /// piece by piece and as one.
  std::string verdict() {
    std::string wrong = problem();
    if (!wrong.empty()) return wrong;
    const int got = count_alone();
    if (got != capacity_) {
      return std::to_string(got) + " blocks can be allocated in the end, and there is room for " +
             std::to_string(capacity_);
    }
    return problem();
  }

 protected:
  /// What a lane has taken since its heap was empty.
  struct holding {
    any_warp_heap from;
    std::array<ledger::entry, 4> blocks;
    int count = 0;
  };

  holding begin(const simt::group& together = simt::coalesced(nullptr)) {
    const any_warp_heap from = manager_->begin(together);
    remark_step([&] { return "begin: " + (from ? name_of(from) : "null"); });
    return {from, {}, 0};
  }

  /// Takes a block and fills it with its tag; false if there is none.
  bool take(holding& mine, std::uint64_t which, bool must = false) {
    return take_bytes(mine, sizes_[which % sizes_.size()], must);
  }
  bool take_bytes(holding& mine, std::uint32_t bytes, bool must = false) {
    void* block = mine.from ? manager_->malloc(mine.from, bytes) : nullptr;
    ledger_.remark("malloc", static_cast<std::byte*>(block), bytes);
    if (block == nullptr) {
      if (must) ledger_.note("null although memory is free");
      return false;
    }
    const std::uint32_t tag = ledger_.add(block, bytes);
    auto* words = static_cast<std::uint32_t*>(block);
    for (std::uint32_t i = 0; i < bytes / 4; ++i) words[i] = tag;
    mine.blocks[static_cast<std::size_t>(mine.count++)] = {static_cast<std::byte*>(block), bytes,
                                                           tag};
    return true;
  }
  /// All memory, which blocks of the first size fill: by arithmetic.
  std::uint32_t all_bytes() const { return static_cast<std::uint32_t>(capacity_) * sizes_[0]; }
  static bool has_room(const holding& mine) {
    return mine.count < static_cast<int>(mine.blocks.size());
  }

  /// What was refused though it should not have been.
  void note(const char* what) { ledger_.note(what); }

  void tidy_up(holding& mine) {
    let_go("tidy_up", mine);
    if (mine.from) manager_->tidy_up(mine.from);
  }
  void end(holding& mine) {
    let_go("end", mine);
    if (mine.from) manager_->end(mine.from);
  }

  // Only while no lane runs.

  /// How many of `units` units of `unit_bytes`, which begin `front` bytes into the region, are in a
  /// row without a block that is held: by arithmetic.
  std::size_t longest_gap(std::size_t front, std::uint32_t unit_bytes, std::size_t units) const {
    std::vector<bool> used(units);
    for (int i = 0; i < ledger_.count(); ++i) {
      const ledger::entry& block = ledger_.at(i);
      const auto first = static_cast<std::size_t>(block.start - region_.base()) - front;
      const std::size_t last = first + block.bytes - 1;
      for (std::size_t u = first / unit_bytes; u <= last / unit_bytes; ++u) used.at(u) = true;
    }
    std::size_t longest = 0;
    std::size_t length = 0;
    for (const bool is_used : used) {
      length = is_used ? 0 : length + 1;
      longest = std::max(longest, length);
    }
    return longest;
  }
  /// Runs `act` in a single lane.
  template <class Act>
  void run_alone(const Act& act) {
    const auto outcome = alone_.run({simt::strategy::sticky, 1}, act);
    if (!outcome.stuck.empty()) ledger_.note("a single lane does not finish");
  }
  /// From now on `reset` brings back the present state. What is held in it is not checked.
  void keep_state() { state_.assign(region_.base(), region_.base() + bytes_); }

 private:
  /// What a replay calls a warp heap.
  static std::string name_of(const any_warp_heap& one) {
    std::uint64_t number = 0;
    std::memcpy(&number, one.handle.data(), sizeof number);
    return "warp heap " + std::to_string(number);
  }

  /// A lane calls `call`, and has held its blocks until now, whatever other participants have done.
  void let_go(const char* call, holding& mine) {
    if (mine.from) {
      remark_step([&] {
        return call + (" of " + name_of(mine.from)) +
               ", blocks held: " + std::to_string(mine.count);
      });
    }
    for (int i = 0; i < mine.count; ++i) {
      const ledger::entry& block = mine.blocks[static_cast<std::size_t>(i)];
      const auto* words = reinterpret_cast<const std::uint32_t*>(block.start);
      for (std::uint32_t w = 0; w < block.bytes / 4; ++w) {
        if (words[w] == block.tag) continue;
        ledger_.note("a block that lost its contents", block.start, block.bytes);
        break;
      }
      ledger_.remove(block.start);
    }
    mine.count = 0;
  }

  std::string problem() {
    if (!ledger_.problem().empty()) return ledger_.problem();
    inspection found;
    manager_->inspect(found);
    if (std::string wrong = violated(found); !wrong.empty()) return wrong;
    if (found.blocks_in_use != 0) return "a warp heap is left that all have ended";
    return "";
  }

  /// How many blocks of the first size a single lane gets, after one of all memory.
  int count_alone() {
    int count = 0;
    run_alone([&] {
      const any_warp_heap mine = manager_->begin(simt::coalesced(nullptr));
      if (!mine || manager_->malloc(mine, all_bytes()) == nullptr) count = -1;
      if (!mine) return;
      manager_->tidy_up(mine);
      while (count >= 0 && manager_->malloc(mine, sizes_[0]) != nullptr) ++count;
      manager_->end(mine);
    });
    return count;
  }

  std::size_t bytes_;
  std::vector<std::uint32_t> sizes_;
  int capacity_;
  std::size_t alignment_;
  exact_memory region_;
  std::unique_ptr<any_warp_heaps> manager_;
  std::vector<std::byte> state_;
  ledger ledger_;
  simt::explorer alone_{{1, 1}, 2'000'000};
};

/// Lanes take blocks, tidy up, take again, and end.
template <simt::grid Shape>
class tidy_and_end : public warp_heap_world {
 public:
  static constexpr simt::grid shape = Shape;
  using warp_heap_world::warp_heap_world;
  void lane() {
    auto mine = begin();
    const auto rank = simt::thread_rank();
    for (std::uint64_t round = 0; round < 2; ++round) {
      for (std::uint64_t i = 0; i < 3; ++i) take(mine, rank + round + i, true);
      if (round == 0) tidy_up(mine);
    }
    end(mine);
  }
};

/// Lanes leave one after the other, while those that stay tidy up.
class leave_early : public warp_heap_world {
 public:
  using warp_heap_world::warp_heap_world;
  void lane() {
    auto mine = begin();
    for (int round = 0; round < simt::lane_id(); ++round) {
      take(mine, static_cast<std::uint64_t>(round), true);
      tidy_up(mine);
    }
    take(mine, 0, true);
    end(mine);
  }
};

/// Warp heaps come and go while the heap is exhausted, and no memory is lost. What a lane was
/// refused is served in the end, while all have what they have got, if there is room.
class scarcity : public warp_heap_world {
 public:
  explicit scarcity(const warp_heap_setup& how)
      : warp_heap_world(how.manager, how.scarce_bytes, how.scarce_blocks, how.sizes), how_(how) {}

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    served_ = 0;
    mine_ = {};
    refused_ = {};
  }

  void lane() {
    const std::uint64_t rank = simt::thread_rank();
    for (std::uint64_t round = 0; round < 2; ++round) {
      // The last warp heaps are not shared: nobody ends them before all have been judged.
      auto mine = begin(simt::coalesced(nullptr).match(round == 0 ? lanes : rank));
      std::uint64_t which = rank + round;
      while (has_room(mine) && take(mine, which)) ++which;
      served_ += mine.count;
      if (round == 0) {
        tidy_up(mine);
        take(mine, which);
        end(mine);
      } else {
        if (has_room(mine)) refused_[rank] = how_.sizes[which % how_.sizes.size()];
        mine_[rank] = mine;
      }
    }
  }

  std::string verdict() {
    if (served_ == 0) return "all lanes are refused everything";
    run_alone([this] {
      for (std::size_t i = 0; i < mine_.size(); ++i) {
        const std::uint32_t bytes = refused_[i];
        if (bytes == 0 || !mine_[i].from) continue;
        const std::size_t gap = longest_gap(how_.scarce_front, how_.unit_bytes, how_.scarce_units);
        if (bytes <= gap * how_.unit_bytes) take_bytes(mine_[i], bytes, true);
      }
      for (auto& one : mine_) end(one);
    });
    return warp_heap_world::verdict();
  }

 private:
  static constexpr std::size_t lanes = 8;

  warp_heap_setup how_;
  untracked<int> served_ = 0;
  std::array<holding, lanes> mine_;
  std::array<untracked<std::uint32_t>, lanes> refused_;
};

/// Of two warp heaps, one asks for all memory for a while, and the other one for half of it. One of
/// them is served; what the other one concludes from being refused must not hold any longer when
/// both have ended.
class all_or_nothing : public warp_heap_world {
 public:
  static constexpr simt::grid shape{2, 1};
  using warp_heap_world::warp_heap_world;

  void reset(std::uint64_t seed) {
    warp_heap_world::reset(seed);
    served_ = 0;
  }
  void lane() {
    auto mine = begin();
    const bool wants_all = simt::thread_rank() == 0;
    if (take_bytes(mine, wants_all ? all_bytes() : all_bytes() / 2)) ++served_;
    end(mine);
  }
  std::string verdict() {
    if (served_ == 0) return "both are refused, and all memory was free";
    return warp_heap_world::verdict();
  }

 private:
  untracked<int> served_ = 0;
};

/// Two lanes share a warp heap. One of them takes all memory, both tidy up, and the other one gets
/// a block, whichever of them has freed the memory.
class tidied_up : public warp_heap_world {
 public:
  static constexpr simt::grid shape{1, 2};
  using warp_heap_world::warp_heap_world;
  void lane() {
    auto mine = begin(simt::warp());
    const bool is_first = simt::thread_rank() == 0;
    if (is_first) take_bytes(mine, all_bytes(), true);
    tidy_up(mine);
    if (!is_first) take(mine, 0, true);
    end(mine);
  }
};

inline std::vector<named_case> warp_heap_cases(const warp_heap_setup& how) {
  return {
      case_of<tidy_and_end<two_warps>>("tidy_and_end", how.manager, how.roomy_bytes,
                                       how.roomy_blocks, how.sizes),
      case_of<tidy_and_end<one_warp>>("one_warp", how.manager, how.roomy_bytes, how.roomy_blocks,
                                      how.sizes),
      case_of<leave_early>("leave_early", how.manager, how.roomy_bytes, how.roomy_blocks,
                           how.sizes),
      case_of<scarcity>("scarcity", how),
      case_of<all_or_nothing>("all_or_nothing", how.manager, how.scarce_bytes, how.scarce_blocks,
                              how.sizes),
      case_of<tidied_up>("tidied_up", how.manager, how.scarce_bytes, how.scarce_blocks, how.sizes),
  };
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
