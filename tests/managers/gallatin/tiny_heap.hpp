// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "exploration.hpp"

#include "warpheap/managers/gallatin.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Segments of 512 B: one block of eight slices of 64 B, two of eight of 32 B, or four of eight of
/// 16 B. A warp of four lanes uses a block up in two calls.
inline constexpr gallatin_config tiny{.segment_bytes = 512,
                                      .smallest_slice = 16,
                                      .largest_slice = 64,
                                      .least_segments = 1,
                                      .buffer_share = 1};

/// Two warps of four lanes, each on a multiprocessor of its own.
inline constexpr simt::grid two_warps{2, 4};

/// A heap of a few such segments, and who holds what of it. Lanes of the explorer change places at
/// the points of the seam only, so the record is exact with plain accesses.
template <gallatin_config Config = tiny>
class tiny_heap {
 public:
  using manager_type = gallatin<Config>;

  explicit tiny_heap(std::uint32_t segments)
      : bytes_(region_bytes(segments)),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, bytes_))),
        manager_(region{memory_.get(), bytes_}, two_multiprocessors(), {}),
        holders_(segment_span() / granule) {
    std::memset(memory_.get(), 0xcd, bytes_);  // nothing may rely on zeroes
    manager_.format(0, 1);
    keep_state();
    EXPECT_EQ(manager_.shape().segments(), segments);
  }

  const manager_type& manager() const { return manager_; }
  std::size_t segment_span() const {
    return std::size_t{manager_.shape().segments()} << manager_.shape().segment_shift();
  }

  /// `reset` brings back the present state, in which whatever is held stays held.
  void keep_state() {
    state_.assign(memory_.get(), memory_.get() + bytes_);
    kept_holders_ = holders_;
  }

  void reset(std::uint64_t /*seed*/) {
    std::memcpy(memory_.get(), state_.data(), bytes_);
    holders_ = kept_holders_;
    wrong_.clear();
    granted_ = 0;
    refused_ = 0;
  }

  // For lanes.

  std::byte* take(std::size_t bytes) {
    auto* block = static_cast<std::byte*>(manager_.malloc(bytes));
    if (block == nullptr) {
      ++refused_;
      return nullptr;
    }
    ++granted_;
    hold(block, bytes, 1);
    return block;
  }

  void give(std::byte* block, std::size_t bytes) {
    if (block == nullptr) return;
    hold(block, bytes, -1);
    manager_.free(block);
  }

  // For the time when no lane runs.

  /// Runs `act` in a single lane.
  template <class Act>
  void alone(const Act& act) {
    const auto outcome = alone_.run({simt::strategy::sticky, 1}, act);
    if (!outcome.stuck.empty()) wrong_ = "a single lane: " + outcome.stuck;
  }

  /// Blocks that were given and refused since the reset.
  int granted() const { return granted_; }
  int refused() const { return refused_; }

  std::string problem() {
    if (!wrong_.empty()) return wrong_;
    inspection found;
    manager_.inspect(0, 1, found);
    for (int i = 0; i < inspection::most_invariants; ++i) {
      if (found.violations[i] != 0) {
        return "invariant I" + std::to_string(i + 1) + " does not hold at " +
               std::to_string(found.places[i]);
      }
    }
    return "";
  }

  /// As `problem`; and if nothing is held, all of the heap can be had as one block.
  std::string problem_when_empty() {
    std::string what = problem();
    if (!what.empty()) return what;
    inspection found;
    manager_.inspect(0, 1, found);
    if (found.blocks_in_use != 0) {
      return std::to_string(found.blocks_in_use) + " blocks are in use, and none is held";
    }
    std::byte* everything = nullptr;
    alone([this, &everything] { everything = take(segment_span()); });
    if (everything == nullptr) return "memory was lost: the whole heap cannot be had in one block";
    alone([this, everything] { give(everything, segment_span()); });
    return problem();
  }

  void note(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

 private:
  static constexpr std::size_t granule = 16;

  struct releaser {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  static simt::device_properties two_multiprocessors() {
    simt::device_properties machine;
    machine.multiprocessors = 2;
    return machine;
  }

  /// The smallest region that has room for so many segments.
  static std::size_t region_bytes(std::uint32_t segments) {
    for (std::size_t bytes = Config.segment_bytes;; bytes += Config.segment_bytes) {
      try {
        const manager_type fitting(region{reinterpret_cast<std::byte*>(4096), bytes},
                                   two_multiprocessors(), {});
        if (fitting.shape().segments() >= segments) return bytes;
      } catch (const invalid_argument&) {
        // larger, then
      }
    }
  }

  void hold(std::byte* block, std::size_t bytes, int change) {
    const auto first = static_cast<std::size_t>(block - manager_.segments());
    if (block < manager_.segments() || first + bytes > segment_span()) {
      return note("a block outside of the heap");
    }
    for (std::size_t i = first / granule; i * granule < first + bytes; ++i) {
      holders_[i] += change;
      if (holders_[i] != 0 && holders_[i] != 1) {
        note("blocks overlap at offset " + std::to_string(i * granule));
      }
    }
  }

  std::size_t bytes_;
  std::unique_ptr<std::byte, releaser> memory_;
  manager_type manager_;
  std::vector<std::byte> state_;
  std::vector<int> holders_;
  std::vector<int> kept_holders_;
  std::string wrong_;
  int granted_ = 0;
  int refused_ = 0;
  simt::explorer alone_{{1, 1}, 1'000'000};
};

}  // namespace test
WARPHEAP_END_NAMESPACE
