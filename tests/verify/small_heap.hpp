// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "any_manager.hpp"
#include "exact_memory.hpp"
#include "full_reuse.hpp"
#include "ledger.hpp"
#include "untracked.hpp"

#include "warpheap/heap/call_counts.hpp"
#include "warpheap/heap/inspection.hpp"
#include "warpheap/simt/cpu/explorer.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Names the first invariant that an inspection found violated; empty if all hold.
inline std::string violated(const inspection& found) {
  for (int i = 0; i < inspection::most_invariants; ++i) {
    if (found.violations[i] == 0) continue;
    return "invariant I" + std::to_string(i + 1) + " does not hold at " +
           std::to_string(found.places[i]);
  }
  return {};
}

/// Makes a heap empty, in memory full of rubbish. False if lanes that do it in another order, or
/// other numbers of them, leave other contents: then one writes where another does. Padding counts:
/// a structure that is copied into the heap takes along what the lane's stack had there.
template <class Format>
bool formats_in_any_order(const region& memory, const Format& format) {
  std::vector<std::byte> first;
  // A lane that goes beyond what it should is often the one that may be there, but not for all of
  // these counts.
  for (const std::uint64_t lanes : {7, 5, 3, 1}) {
    for (const bool backwards : {false, true}) {
      std::memset(memory.base, 0xcd, memory.bytes);  // nothing may rely on zeroes
      for (std::uint64_t i = 0; i < lanes; ++i) format(backwards ? lanes - 1 - i : i, lanes);
      const std::vector<std::byte> now(memory.base, memory.base + memory.bytes);
      if (first.empty()) first = now;
      if (now != first) return false;
    }
  }
  return true;
}

/// The same. \throws invalid_argument in place of false
template <class Format>
void format_in_any_order(const std::string& name, const region& memory, const Format& format) {
  if (formats_in_any_order(memory, format)) return;
  throw invalid_argument(name +
                         ": what the heap holds at first depends on which of the lanes that "
                         "format it is the first");
}

/// A manager in a region of a few KiB that is put back into its first state by a copy.
class any_heap {
 public:
  explicit any_heap(const any_setup& how)
      : how_(how), region_(how.region_bytes), manager_(made(region_.all(), how)) {
    format_in_any_order(how.name, region_.all(), [this](std::uint64_t rank, std::uint64_t count) {
      manager_->format(rank, count);
    });
    forget_blocks();
    keep_state();
    require_books();
    for (std::size_t i = 0; i < how_.holds.size() && wrong_room_.empty(); ++i) {
      wrong_room_ = wrong_room(i);
      restore();
    }
  }

  /// Refuses a region in which some of the blocks that `lanes` lanes hold at once, `each` of the
  /// sizes from their rank on, are missing though nothing else is held. What is too small for the
  /// cases is not a mistake of the manager.
  /// \throws invalid_argument with the request that failed
  void require_room(int lanes, int each) {
    if (!how_.exact || !how_.fits) return;
    int served = 0;
    run_quietly([&] {
      while (served < lanes * each && take(size(request(served, each))) != nullptr) ++served;
    });
    restore();
    if (served == lanes * each) return;
    refuse(how_, "request " + std::to_string(served + 1) + " of " + std::to_string(lanes * each) +
                     " that its cases make at once, of " +
                     std::to_string(size(request(served, each))) +
                     " bytes, has no block in an empty heap");
  }

  const any_setup& how() const { return how_; }
  any_manager& manager() const { return *manager_; }
  std::span<std::uint32_t> words() const {
    return {reinterpret_cast<std::uint32_t*>(region_.base()),
            how_.region_bytes / sizeof(std::uint32_t)};
  }
  ledger& blocks() { return ledger_; }
  /// Blocks of the first size that an empty heap holds, which must have an end.
  int capacity() const { return room(0); }
  /// Blocks of the size number `which` that an empty heap holds at least, as the setup says.
  int room(std::size_t which) const {
    return std::min(how_.holds.at(which).least, ledger::most_blocks);
  }
  std::uint32_t size(std::uint64_t i) const { return how_.sizes[i % how_.sizes.size()]; }

  /// The heap as it was when it was made, or as `keep_state` found it.
  void restore() {
    put_back();
    if (!served_at_first_.empty()) return;
    served_at_first_ = served_alone();
    put_back();
  }

  /// From now on `restore` brings back the present state, in which the blocks held now are held by
  /// nobody whom the ledger knows.
  void keep_state() {
    state_.assign(region_.base(), region_.base() + how_.region_bytes);
    // What is held in the kept state is never freed.
    held_always_ = ledger_.count();
    had_others_at_first_ = had_others_;
    served_at_first_.clear();
  }

  // For lanes.

  /// A block of `bytes` bytes, filled with its tag; null when the manager has none.
  std::byte* take(std::uint32_t bytes) { return taken("malloc", manager_->malloc(bytes), bytes); }
  /// The same, at a multiple of `step`, a power of two.
  std::byte* take_aligned(std::size_t step, std::uint32_t bytes) {
    std::byte* const block = taken("aligned_malloc", manager_->aligned_malloc(step, bytes), bytes);
    if (reinterpret_cast<std::uintptr_t>(block) % step != 0) {
      ledger_.note("a block is not aligned");
    }
    return block;
  }

  /// Checks the contents of a block and frees it.
  void give(std::byte* block) {
    const ledger::entry known = ledger_.remove(block);
    ledger_.remark("free", block, known.bytes);
    check(known);
    manager_->free(block);
  }

  // Only while no lane runs.

  /// Writes a block into the ledger, and its tag into the block. `take` does; call it for a block
  /// that the manager gave without.
  void adopt(std::byte* block, std::uint32_t bytes) {
    const std::uint32_t tag = ledger_.add(block, bytes);
    for (std::size_t i = 0; i < had_.size(); ++i) {
      if (how_.sizes[i] == bytes) had_[i] = true;
    }
    if (bytes != how_.sizes[0]) had_others_ = true;
    auto* words = reinterpret_cast<std::uint32_t*>(block);
    for (std::uint32_t i = 0; i < bytes / 4; ++i) words[i] = tag;
  }

  /// Runs `act` in a single lane.
  template <class Act>
  void run_quietly(const Act& act) {
    const auto outcome = alone_.run({simt::strategy::sticky, 1}, act);
    if (!outcome.stuck.empty()) ledger_.note("a single lane does not finish");
  }

  /// Takes blocks of the first size with a single lane until there are none: how many.
  int fill_quietly() { return fill_quietly(how_.sizes[0]); }

  /// Frees with a single lane the blocks that are held, but for the oldest `kept`.
  void empty_quietly(int kept = 0) {
    run_quietly([this, kept] {
      while (ledger_.count() > kept) give(ledger_.at(ledger_.count() - 1).start);
    });
  }

  /// What a lane alone is refused wrongly, as nobody else can have it; empty if nothing is. First
  /// beside the blocks that are held, and then, after it has freed those.
  std::string refused_at_rest() {
    if (how_.freed.serves == reuse_at_rest::none) return "";
    const std::vector<untracked<bool>> had = had_;
    if (one_more_fits()) {
      run_quietly([this] {
        if (take(how_.sizes[0]) == nullptr) {
          ledger_.note("null to a lane alone, and there is room for one block more");
        }
      });
    }
    empty_quietly();
    if (how_.freed.serves == reuse_at_rest::of_any_size_once_empty && held_always_ != 0) {
      return ledger_.problem();
    }
    const std::vector<bool> served = served_alone();
    for (std::size_t i = 0; i < served.size(); ++i) {
      // Nothing is held that was not held in the first state, or when this size was served.
      const bool is_free =
          had[i] || (how_.freed.serves != reuse_at_rest::of_its_size && served_at_first_[i]);
      if (is_free && !served[i]) {
        return "null to a lane alone that asks for " + std::to_string(how_.sizes[i]) +
               " bytes, and everything was freed";
      }
    }
    return ledger_.problem();
  }

  /// Whether an empty heap holds as many blocks as the manager says, if it says anything.
  std::string wrong_capacity() const {
    const auto pages = manager_->page_count();
    if (pages && static_cast<std::uint64_t>(capacity()) != *pages) {
      return std::to_string(capacity()) + " blocks can be allocated, and there are " +
             std::to_string(*pages) + " pages";
    }
    return "";
  }

  /// Fills the heap, of which nothing is held, with blocks of the size number `which`. What is
  /// wrong if those are not as many as the layout has room for; empty if nothing is.
  std::string wrong_room(std::size_t which) {
    const block_count& blocks = how_.holds.at(which);
    const int found = fill_quietly(how_.sizes[which]);
    if (found >= std::min(blocks.least, ledger::most_blocks) && found <= blocks.most) return "";
    std::string wrong = "an empty heap gives " + std::to_string(found) + " blocks of " +
                        std::to_string(how_.sizes[which]) + " bytes, and its layout has room for " +
                        std::to_string(blocks.least);
    if (blocks.most != blocks.least) wrong += " to " + std::to_string(blocks.most);
    return wrong;
  }

  /// What is wrong with the heap as it is now; empty if nothing is.
  std::string problem() {
    if (!wrong_room_.empty()) return wrong_room_;
    for (int i = 0; i < ledger_.count(); ++i) check(ledger_.at(i));
    if (!ledger_.problem().empty()) return ledger_.problem();
    inspection found;
    manager_->inspect(found);
    if (std::string wrong = violated(found); !wrong.empty()) return wrong;
    if (how_.counts) {
      const auto held = static_cast<std::uint64_t>(held_always_ + ledger_.count());
      if (found.blocks_in_use != held) {
        return std::to_string(found.blocks_in_use) + " blocks are in use and " +
               std::to_string(held) + " are held";
      }
    }
    const call_counts* counted = manager_->counts();
    return counted != nullptr ? miscount(*counted) : "";
  }

 private:
  int fill_quietly(std::uint32_t bytes) {
    int count = 0;
    run_quietly([&] {
      while (count < ledger::most_blocks && take(bytes) != nullptr) ++count;
    });
    return count;
  }

  void put_back() {
    std::memcpy(region_.base(), state_.data(), how_.region_bytes);
    forget_blocks();
  }

  /// Of each size, whether a lane alone is served; one after the other.
  std::vector<bool> served_alone() {
    std::vector<bool> served;
    run_quietly([&] {
      for (const std::uint32_t bytes : how_.sizes) {
        std::byte* const block = take(bytes);
        served.push_back(block != nullptr);
        if (block != nullptr && how_.frees) give(block);
      }
    });
    return served;
  }

  /// Whether what is held leaves room for a block of the first size, by arithmetic: only blocks of
  /// that size have been had, and fewer than an empty heap holds.
  bool one_more_fits() const {
    if (!how_.ends || !how_.counts || !how_.reuses) return false;
    return !had_others_ && !had_others_at_first_ && held_always_ + ledger_.count() < capacity();
  }

  /// Refuses a setup whose books would have to ask the manager.
  void require_books() const {
    if (how_.freed.serves != reuse_at_rest::of_any_size && serves_all_sizes(how_)) {
      throw invalid_argument(how_.name +
                             ": setup::freed must say why freed memory does not serve all sizes");
    }
    if (!how_.ends && !how_.holds.empty()) {
      throw invalid_argument(how_.name + ": the heap never ends, and setup::holds says when");
    }
    if (how_.ends && how_.holds.size() != how_.sizes.size()) {
      throw invalid_argument(how_.name + ": the setup must say how many blocks of each of its " +
                             std::to_string(how_.sizes.size()) +
                             " sizes its layout has room for; setup::holds has " +
                             std::to_string(how_.holds.size()));
    }
  }

  std::byte* taken(const char* call, void* got, std::uint32_t bytes) {
    auto* const block = static_cast<std::byte*>(got);
    ledger_.remark(call, block, bytes);
    if (block != nullptr) adopt(block, bytes);
    return block;
  }

  /// Which of the sizes the request number `i` asks for, if each lane makes `each`.
  static std::uint64_t request(int i, int each) {
    return static_cast<std::uint64_t>(i / each + i % each);
  }

  [[noreturn]] static void refuse(const any_setup& how, const std::string& why) {
    throw invalid_argument(how.name + ": the region of " + std::to_string(how.region_bytes) +
                           " bytes is too small for the explorer: " + why +
                           "; raise setup::region_bytes");
  }
  static std::unique_ptr<any_manager> made(const region& memory, const any_setup& how) {
    try {
      return how.make(memory);
    } catch (const invalid_argument& refused) {
      refuse(how, refused.what());
    }
  }

  void forget_blocks() {
    had_.assign(how_.sizes.size(), false);
    had_others_ = false;
    ledger_.reset(region_.base(), region_.base() + how_.region_bytes, how_.alignment);
  }

  void check(const ledger::entry& block) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(block.start);
    for (std::uint32_t i = 0; i < block.bytes / 4; ++i) {
      if (words[i] != block.tag) {
        ledger_.note("a block that lost its contents", block.start, block.bytes);
        return;
      }
    }
  }

  /// What a manager that counts says, against the ledger.
  std::string miscount(const call_counts& found) const {
    const auto expect = [](const char* what, std::uint64_t counted, std::uint64_t real) {
      return counted == real ? std::string()
                             : std::to_string(counted) + " " + what + " are counted, and " +
                                   std::to_string(real) + " there are";
    };
    // Blocks of the kept state were counted before the ledger began.
    if (held_always_ != 0) return "";
    std::string wrong = expect("mallocs", found.mallocs, ledger_.taken());
    if (wrong.empty()) wrong = expect("frees", found.frees(), ledger_.given());
    if (wrong.empty()) wrong = expect("bytes", found.live_bytes, ledger_.bytes());
    if (wrong.empty() && found.peak_blocks < static_cast<std::uint64_t>(ledger_.peak())) {
      wrong = "the peak is counted as " + std::to_string(found.peak_blocks) + " blocks, and " +
              std::to_string(ledger_.peak()) + " were held at once";
    }
    return wrong;
  }

  any_setup how_;
  exact_memory region_;
  std::unique_ptr<any_manager> manager_;
  std::vector<std::byte> state_;
  ledger ledger_;
  std::string wrong_room_;
  int held_always_ = 0;
  /// Of each size, whether one was served since the state was put back.
  std::vector<untracked<bool>> had_;
  /// Whether another size than the first was served, since then, and before the state was kept.
  untracked<bool> had_others_ = false;
  bool had_others_at_first_ = false;
  /// Of each size, whether the state that is put back has a block for a lane alone.
  std::vector<bool> served_at_first_;
  simt::explorer alone_{{1, 1}, 2'000'000};
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
