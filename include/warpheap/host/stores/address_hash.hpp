// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>

#include "warpheap/core/bits.hpp"
#include "warpheap/host/extent.hpp"

namespace warpheap::host {

/// Hashes the addresses of blocks: a table of 2^k chains takes the lowest k bits (k up to 28).
///
/// A step of one granule is a step of 1.151 chains, modulo 2^k. So small blocks that lie next to
/// each other share cache lines of chains but no chain, as at random they would. Blocks at other
/// strides meet less often than at random on average, and a search looks at 3.3 records at the
/// worst stride of the tests (stores_test.cpp). The constant is the best of 260 that were
/// tried.
class address_hash {
 public:
  explicit address_hash(std::size_t granule_bytes)
      : factor_(granule_bytes < usual_granule ? chains_per_granule * (usual_granule / granule_bytes)
                                              : chains_per_granule) {}

  /// Each bit depends on every lower bit of the address, and on no higher one: what is cut off
  /// above 2^64 is not missed.
  std::size_t operator()(address base) const {
    return static_cast<std::size_t>((base * factor_) >>
                                    (fraction_bits + floor_log2(usual_granule)));
  }

 private:
  static constexpr std::uint64_t usual_granule = 256;
  static constexpr int fraction_bits = 28;
  static constexpr std::uint64_t chains_per_granule = 0x126b02e5;  // 1.151 with that many bits

  std::uint64_t factor_;
};

}  // namespace warpheap::host
