// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "exact_memory.hpp"
#include "heap/setups.hpp"
#include "manager_cases.hpp"

#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layers/checked.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

inline constexpr checked_config small_log{.log_entries = 8};
/// Each free replaces a block that another lane has freed, mostly.
inline constexpr checked_config small_quarantine{.log_entries = 8, .quarantine_blocks = 2};

/// 57 granules of 64 bytes, behind 1920 for the log and their records. The words of the pages take
/// the first 128, and a page has guards of 64 bytes.
template <class Checked>
setup<Checked> checked_setup(std::size_t page_bytes = 16) {
  const int pages = (57 * 64 - 128) / static_cast<int>(page_bytes + 64);
  return {.region_bytes = 5632,
          .options = {.page_bytes = page_bytes},
          .sizes = {16, 8, 12},
          .holds = {pages, pages, pages}};
}

/// Lanes use blocks wrongly in a known way; the log of the layer `checked`, at the front of its
/// region, must then say exactly that.
template <class Checked>
class wrong_use {
 public:
  static constexpr simt::grid shape = two_warps;

  explicit wrong_use(const setup<Checked>& how)
      : region_(how.region_bytes), manager_(region_.all(), properties(), how.options) {}

  void reset(std::uint64_t /*seed*/) {
    manager_.format(0, 1);
    blocks_ = {};
    layer_base::frees = 0;
  }

  /// Lanes keep two blocks each, and free a third.
  damaged_heap damaged() {
    const auto populate = [this] {
      wrong_use::reset(0);
      simt::explorer lanes(shape, 2'000'000);
      lanes.run({simt::strategy::uniform, 1}, [this] {
        for (std::uint64_t i = 0; i < 3; ++i) {
          void* const block = manager_.malloc(8 + i);
          if (i == 1 && block != nullptr) manager_.free(block);
        }
      });
    };
    const auto inspect = [this](inspection& found) { manager_.inspect(0, 1, found); };
    const std::size_t words = region_.all().bytes / sizeof(std::uint32_t);
    return {{reinterpret_cast<std::uint32_t*>(region_.base()), words}, inspect, populate};
  }

 protected:
  /// The incidents that are in the log, as the header says that it lies.
  std::uint64_t logged() const { return *reinterpret_cast<const std::uint64_t*>(region_.base()); }
  const incident& entry(std::uint64_t i) const {
    return reinterpret_cast<const incident*>(region_.base() + 8 * checking::incident_log::words)[i];
  }
  std::uint64_t in_use() const {
    inspection found;
    manager_.inspect(0, 1, found);
    return found.blocks_in_use;
  }
  std::string expect_logged(std::uint64_t times) const {
    if (logged() == times) return "";
    return std::to_string(logged()) + " incidents are in the log, " + std::to_string(times) +
           " there were";
  }
  std::string expect_all_freed() const {
    if (in_use() == 0) return "";
    return std::to_string(in_use()) + " blocks are in use, and all were freed";
  }
  std::string expect(incident::kind what, std::uint64_t times) const {
    if (std::string wrong = expect_logged(times); !wrong.empty()) return wrong;
    for (std::uint64_t i = 0; i < times; ++i) {
      if (entry(i).what != what) return "the log says: " + entry(i).describe();
    }
    return "";
  }

  static simt::device_properties properties() { return {}; }

  exact_memory region_;
  Checked manager_;
  alignas(8) std::array<std::uint64_t, 4> blocks_{};
};

/// Each block is freed by a lane of either warp.
template <class Checked>
class double_free : public wrong_use<Checked> {
 public:
  // The second free of a block that another lane has got meanwhile is the program's own race.
  static constexpr bool races = true;
  using wrong_use<Checked>::wrong_use;

  void lane() {
    auto rank = simt::thread_rank();
    const simt::atomic_ref<std::uint64_t> shared(this->blocks_[rank % 4]);
    if (rank < 4) {
      shared.store(reinterpret_cast<std::uint64_t>(this->manager_.malloc(16)),
                   simt::order::release);
    }
    // Ends: the lane of the first warp never waits.
    while (shared.load(simt::order::acquire) == 0) simt::backoff(1);
    this->manager_.free(reinterpret_cast<void*>(shared.load(simt::order::acquire)));
  }
  std::string verdict() {
    const std::string wrong = this->expect(incident::kind::double_free, 4);
    if (wrong.empty() && layer_base::frees != 4) {
      return std::to_string(layer_base::frees) + " frees of 4 blocks reached the manager";
    }
    return wrong.empty() ? this->expect_all_freed() : wrong;
  }
};

/// Lanes write a byte too many, behind their block or before it.
template <class Checked>
class stray_bytes : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void lane() {
    const auto rank = simt::thread_rank();
    const auto bytes = 8 + rank;  // no two alike
    auto* block = static_cast<std::byte*>(this->manager_.malloc(bytes));
    for (std::uint64_t i = 0; i < bytes + (rank < 3 ? 1 : 0); ++i) block[i] = std::byte{1};
    if (rank == 3 || rank == 4) block[-1] = std::byte{1};
    simt::backoff(1);
    this->manager_.free(block);
  }
  std::string verdict() {
    if (std::string wrong = this->expect_logged(5); !wrong.empty()) return wrong;
    for (std::uint64_t i = 0; i < 5; ++i) {
      const incident& found = this->entry(i);
      const std::uint64_t rank = found.bytes - 8;
      const bool right =
          rank < 5 && found.allocated.block() * 4 + found.allocated.thread() == rank &&
          found.what == (rank < 3 ? incident::kind::overrun : incident::kind::underrun);
      if (!right) return "the log says: " + found.describe();
    }
    return "";
  }
};

/// All bytes between two neighbours are written, and a lane of either warp frees one of them.
template <class Checked>
class written_gap : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void lane() {
    const auto rank = simt::thread_rank();
    const simt::atomic_ref<std::uint64_t> upper(this->blocks_[1]);
    if (rank == 0) {
      const auto [one, two] = neighbours();
      for (std::byte* byte = one + 16; byte < two; ++byte) *byte = std::byte{1};
      this->blocks_[0] = reinterpret_cast<std::uint64_t>(one);
      upper.store(reinterpret_cast<std::uint64_t>(two), simt::order::release);
      this->manager_.free(one);
    } else if (rank == 4) {
      // Ends: the lane of the first warp waits for nothing but this lane's report.
      while (upper.load(simt::order::acquire) == 0) simt::backoff(1);
      this->manager_.free(reinterpret_cast<void*>(upper.load(simt::order::acquire)));
    }
  }
  std::string verdict() {
    const std::string wrong = this->expect(incident::kind::overwritten, 1);
    if (!wrong.empty()) return wrong;
    const incident& found = this->entry(0);
    return found.block == this->blocks_[0] && found.other == this->blocks_[1]
               ? ""
               : "the log says: " + found.describe();
  }

 private:
  /// Takes blocks until two of them are neighbours, with nothing but their guards between them.
  std::pair<std::byte*, std::byte*> neighbours() {
    std::array<std::byte*, 64> taken{};
    for (std::size_t count = 0;; ++count) {
      auto* block = static_cast<std::byte*>(this->manager_.malloc(16));
      for (std::size_t i = 0; i < count; ++i) {
        const auto distance = block - taken[i];
        constexpr auto pitch = static_cast<std::ptrdiff_t>(checking::footprint(16));
        if (distance == pitch) return {taken[i], block};
        if (distance == -pitch) return {block, taken[i]};
      }
      taken[count] = block;
    }
  }
};

/// Neighbouring blocks are freed at the same time, all as they should be.
/// \tparam Sizes of blocks; in some of them others lie where guards have been, and are linked
template <class Checked, int Sizes>
class correct_use : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void lane() {
    const auto rank = static_cast<int>(simt::thread_rank());
    for (int round = 0; round < 2; ++round) {
      const int bytes = 16 + 40 * ((rank + round) % Sizes);
      this->manager_.free(this->manager_.malloc(static_cast<std::size_t>(bytes)));
    }
  }
  std::string verdict() {
    const std::string wrong = this->expect(incident::kind::overrun, 0);
    return wrong.empty() ? this->expect_all_freed() : wrong;
  }
};

/// Blocks that others have freed shortly before live again, next to each other. Of each the last
/// byte behind it is written before the next one is freed, which must be noticed there.
template <class Checked>
class live_again : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void reset(std::uint64_t seed) {
    wrong_use<Checked>::reset(seed);
    kept_ = {};
    ended_ = 0;
    pairs_ = 0;
  }

  void lane() {
    this->manager_.free(this->manager_.malloc(16));
    kept_[simt::thread_rank()] = static_cast<std::byte*>(this->manager_.malloc(16));
    // Each lane has its block from here on; the last one goes on alone.
    if (simt::atomic_ref(ended_).fetch_add(1, simt::order::acq_rel) + 1 != kept_.size()) return;
    std::sort(kept_.begin(), kept_.end());
    for (std::size_t i = 1; i < kept_.size(); ++i) {
      if (!is_next(i)) continue;
      ++pairs_;
      kept_[i][-static_cast<std::ptrdiff_t>(checking::front_bytes) - 1] = std::byte{1};
    }
    for (std::size_t i = 1; i < kept_.size(); ++i) {
      if (is_next(i)) this->manager_.free(kept_[i]);
    }
  }

  std::string verdict() { return this->expect_logged(pairs_); }

 private:
  bool is_next(std::size_t i) const {
    return kept_[i] - kept_[i - 1] == static_cast<std::ptrdiff_t>(checking::footprint(16));
  }

  std::array<std::byte*, 8> kept_{};
  alignas(8) std::uint32_t ended_ = 0;
  std::uint64_t pairs_ = 0;
};

template <class Checked>
std::vector<named_case> checked_cases() {
  const auto how = checked_setup<Checked>();
  auto cases = manager_cases(how);
  cases.push_back(case_of<double_free<Checked>>("double_free", how));
  cases.push_back(case_of<stray_bytes<Checked>>("stray_bytes", how));
  cases.push_back(case_of<written_gap<Checked>>("written_gap", how));
  cases.push_back(case_of<correct_use<Checked, 1>>("correct_use", how));
  cases.push_back(
      case_of<correct_use<Checked, 3>>("correct_use_of_sizes", checked_setup<Checked>(96)));
  auto tight = how;
  tight.region_bytes = 2304;
  cases.push_back(case_of<live_again<Checked>>("live_again", tight));
  return cases;
}

/// A block leaves quarantine by the hand of another lane than freed it, which looks at its poison.
template <class Checked, std::uint64_t Slots>
class kept_back : public correct_use<Checked, 1> {
 public:
  using correct_use<Checked, 1>::correct_use;

  std::string verdict() {
    const std::string wrong = this->expect(incident::kind::use_after_free, 0);
    if (!wrong.empty() || this->in_use() == Slots) return wrong;
    return std::to_string(this->in_use()) + " blocks are kept back";
  }
};

template <class Checked>
std::vector<named_case> quarantine_cases() {
  return {case_of<kept_back<Checked, small_quarantine.quarantine_blocks>>(
      "kept_back", checked_setup<Checked>())};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
