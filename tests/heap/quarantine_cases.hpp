// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "scenario.hpp"
#include "untracked.hpp"

#include "warpheap/simt/simt.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Lanes write to their blocks and put them into the slots of a quarantine; they take those of
/// others out. Each block leaves once, and with what its lane has written: the layer `checked`
/// looks at the poison in it.
template <class Quarantine>
class blocks_pass_through {
 public:
  static constexpr simt::grid shape{2, 2};

  blocks_pass_through() : retired_(&turns_, slots_.data(), slots_.size()) { retired_.format(0, 1); }

  void reset(std::uint64_t /*seed*/) {
    turns_ = 0;
    slots_.fill(0);
    blocks_.fill(0);
    left_.fill(0);
    unwritten_ = false;
  }

  void lane() {
    const auto rank = static_cast<std::size_t>(simt::thread_rank());
    for (std::size_t round = 0; round < rounds; ++round) {
      std::uint32_t& mine = blocks_[rank * rounds + round];
      simt::atomic_ref(mine).store(written, simt::order::relaxed);
      leaves(retired_.replace(reinterpret_cast<std::byte*>(&mine)));
    }
    leaves(retired_.take(rank % slots_.size()));
  }

  std::string verdict() {
    if (unwritten_) return "a block left without what its lane had written";
    for (std::uint64_t slot = 0; slot < slots_.size(); ++slot) count(retired_.look(slot));
    for (const int times : left_) {
      if (times != 1) return "a block left " + std::to_string(times) + " times";
    }
    return "";
  }

 private:
  static constexpr std::size_t rounds = 2;
  static constexpr std::size_t all = shape.blocks * shape.threads_per_block * rounds;
  static constexpr std::uint32_t written = 0x5a5a5a5a;

  void leaves(std::byte* block) {
    if (block == nullptr) return;
    const simt::atomic_ref word(*reinterpret_cast<std::uint32_t*>(block));
    if (word.load(simt::order::relaxed) != written) unwritten_ = true;
    count(block);
  }
  void count(std::byte* block) {
    if (block == nullptr) return;
    ++left_[static_cast<std::size_t>(reinterpret_cast<std::uint32_t*>(block) - blocks_.data())];
  }

  std::uint64_t turns_ = 0;
  std::array<std::uint64_t, 2> slots_{};
  std::array<std::uint32_t, all> blocks_{};
  Quarantine retired_;
  std::array<untracked<int>, all> left_{};
  untracked<bool> unwritten_ = false;
};

template <class Quarantine>
std::vector<named_case> slots_of_quarantine() {
  return {case_of<blocks_pass_through<Quarantine>>("blocks_pass_through")};
}

}  // namespace verify
WARPHEAP_END_NAMESPACE
