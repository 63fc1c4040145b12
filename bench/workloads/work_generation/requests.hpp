// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/requests.hpp"

#include <cstdint>

namespace warpheap::bench {

/// Pieces of the one large allocation are rounded up to this, so that 8-byte words fit in them.
inline constexpr std::uint64_t piece_alignment = 8;

/// The first step without a memory manager: every lane says how many bytes it will need.
struct work_counting {
  request_batch batch;
  std::uint64_t* bytes = nullptr;
};

/// The last step: every lane finds its piece. `offsets` are the prefix sums of the counts.
struct work_placing {
  std::uint64_t count = 0;
  const std::uint64_t* offsets = nullptr;
  std::uint64_t base = 0;
  std::uint64_t* addresses = nullptr;
};

/// Words of 4 bytes, one per lane: that of lane i is word `positions[i]` of block `owners[i]`.
struct word_table {
  std::uint64_t words = 0;
  const std::uint32_t* owners = nullptr;
  const std::uint32_t* positions = nullptr;
  const std::uint64_t* addresses = nullptr;
};

/// Every lane writes its word.
struct word_writing {
  word_table table;
  std::uint32_t salt = 0;
};

/// Every lane reads its word. Adds up the words, and counts those that differ from what was
/// written.
struct word_reading {
  word_table table;
  std::uint32_t salt = 0;
  std::uint64_t* sum = nullptr;
  std::uint64_t* wrong = nullptr;
};

}  // namespace warpheap::bench
