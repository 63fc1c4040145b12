// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace warpheap {

/// What a kernel takes of the machine that it was compiled for.
struct kernel_resources {
  /// Each thread has this many.
  std::uint64_t registers = 0;
  /// What each thread has: its stack, and what its registers did not hold.
  std::uint64_t local_bytes = 0;
  /// What each block has, without what a launch asks for.
  std::uint64_t shared_bytes = 0;
  /// Constants that the program defines and the kernel reads.
  std::uint64_t constant_bytes = 0;
  /// Threads that a block can have.
  std::uint64_t block_threads = 0;
};

}  // namespace warpheap
