// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "manager_cases.hpp"

#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layers/checked.hpp"
#include "warpheap/managers/random_walk/bitmap_pages.hpp"

#include <array>
#include <atomic>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

using few_pages = random_walk::bitmap_pages<random_walk::bitmap_config{
    .search = random_walk::search_kind::independent, .low_water_ppm = 500'000}>;

/// The manager that layers are explored over. Counts the frees that reach it.
class layer_base : public few_pages {
 public:
  using few_pages::few_pages;

  void free(void* block) const {
    // No atomic of the seam: it would be a switch point.
    frees.fetch_add(1, std::memory_order_relaxed);
    few_pages::free(block);
  }

  static inline std::atomic<std::uint64_t> frees{0};
};

inline constexpr checked_config small_log{.log_entries = 8};

template <class Checked>
setup<Checked> checked_setup() {
  return {.region_bytes = 5120, .options = {.page_bytes = 16}, .sizes = {16, 8, 12}};
}

template <class Counted>
setup<Counted> counted_setup() {
  return {.region_bytes = 2048, .options = {.page_bytes = 16}, .sizes = {16, 8, 12}};
}

/// Lanes use blocks wrongly in a known way; the log of the layer `checked`, at the front of its
/// region, must then say exactly that.
template <class Checked>
class wrong_use {
 public:
  static constexpr simt::grid shape = two_warps;

  explicit wrong_use(const setup<Checked>& how)
      : region_(how.region_bytes / sizeof(chunk)),
        manager_(region{bytes(), how.region_bytes}, properties(), how.options) {}

  void reset(std::uint64_t /*seed*/) {
    manager_.format(0, 1);
    blocks_ = {};
    layer_base::frees = 0;
  }

 protected:
  /// The incidents that are in the log, as the header says that it lies.
  std::uint64_t logged() const { return *reinterpret_cast<const std::uint64_t*>(region_.data()); }
  const incident& entry(std::uint64_t i) const {
    return reinterpret_cast<const incident*>(reinterpret_cast<const std::byte*>(region_.data()) +
                                             8)[i];
  }
  std::uint64_t in_use() const {
    inspection found;
    manager_.inspect(0, 1, found);
    return found.blocks_in_use;
  }
  std::string expect(incident::kind what, std::uint64_t times) const {
    if (logged() != times) {
      return std::to_string(logged()) + " incidents are in the log, " + std::to_string(times) +
             " there were";
    }
    for (std::uint64_t i = 0; i < times; ++i) {
      if (entry(i).what != what) return "the log says: " + entry(i).describe();
    }
    return "";
  }

  static simt::device_properties properties() { return {}; }

  struct alignas(256) chunk {
    std::byte bytes[256];
  };
  std::byte* bytes() { return region_.data()->bytes; }
  std::vector<chunk> region_;
  Checked manager_;
  alignas(8) std::array<std::uint64_t, 4> blocks_{};
};

/// Each block is freed by a lane of either warp.
template <class Checked>
class double_free : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void lane() {
    auto rank = simt::thread_rank();
    const simt::atomic_ref<std::uint64_t> shared(this->blocks_[rank % 4]);
    if (rank < 4) {
      shared.store(reinterpret_cast<std::uint64_t>(this->manager_.malloc(16)),
                   simt::order::release);
    }
    // Ends: the lane of the first warp waits for nobody.
    while (shared.load(simt::order::acquire) == 0) simt::backoff(1);
    this->manager_.free(reinterpret_cast<void*>(shared.load(simt::order::acquire)));
  }
  std::string verdict() {
    const std::string wrong = this->expect(incident::kind::double_free, 4);
    if (wrong.empty() && layer_base::frees != 4) {
      return std::to_string(layer_base::frees) + " frees of 4 blocks reached the manager";
    }
    if (!wrong.empty() || this->in_use() == 0) return wrong;
    return std::to_string(this->in_use()) + " blocks are in use, and all were freed";
  }
};

/// Lanes write one byte too many, or free what is no block.
template <class Checked>
class overrun : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void lane() {
    const auto rank = simt::thread_rank();
    const auto bytes = 8 + rank;  // no two alike
    auto* block = static_cast<std::byte*>(this->manager_.malloc(bytes));
    for (std::uint64_t i = 0; i < bytes + (rank < 3 ? 1 : 0); ++i) block[i] = std::byte{1};
    simt::backoff(1);
    this->manager_.free(block);
  }
  std::string verdict() {
    std::string wrong = this->expect(incident::kind::overrun, 3);
    for (std::uint64_t i = 0; i < 3 && wrong.empty(); ++i) {
      if (this->entry(i).bytes >= 11 || this->entry(i).thread != this->entry(i).bytes - 8) {
        wrong = "the log says: " + this->entry(i).describe();
      }
    }
    return wrong;
  }
};

/// Neighbouring blocks are freed at the same time, all as they should be.
template <class Checked>
class correct_use : public wrong_use<Checked> {
 public:
  using wrong_use<Checked>::wrong_use;

  void lane() {
    for (int round = 0; round < 2; ++round) this->manager_.free(this->manager_.malloc(16));
  }
  std::string verdict() {
    const std::string wrong = this->expect(incident::kind::leak, 0);
    if (!wrong.empty() || this->in_use() == 0) return wrong;
    return std::to_string(this->in_use()) + " blocks are in use, and all were freed";
  }
};

template <class Checked>
std::vector<named_case> checked_cases() {
  const auto how = checked_setup<Checked>();
  auto cases = manager_cases(how);
  cases.push_back(case_of<double_free<Checked>>("double_free", how));
  cases.push_back(case_of<overrun<Checked>>("overrun", how));
  cases.push_back(case_of<correct_use<Checked>>("correct_use", how));
  return cases;
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
