// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The types of the seam that do not depend on the machine.

#include "warpheap/core/align.hpp"
#include "warpheap/core/config.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace simt {

/// The memory orders of atomic operations, with the meanings of C++20, at device scope.
enum class order {
  relaxed,
  acquire,
  release,
  acq_rel,
  seq_cst,
  /// `acquire_to_write` on the CPU: an acquire after which hints may be as old as before.
  acquire_but_hints,
};

/// The shape of a launch. One-dimensional, because no device code of warpheap needs more.
struct grid {
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 1;
  /// Bytes of block-shared memory, see `block_shared()`.
  std::uint32_t shared_bytes = 0;

  /// The smallest grid of blocks of `threads_per_block` with at least `threads` threads.
  static constexpr grid covering(std::uint64_t threads, std::uint32_t threads_per_block = 256) {
    if (threads < threads_per_block) {
      threads_per_block = threads == 0 ? 1u : static_cast<std::uint32_t>(threads);
    }
    return {static_cast<std::uint32_t>(ceil_div<std::uint64_t>(threads, threads_per_block)),
            threads_per_block};
  }
};

/// The registers of a lane in which a kernel does its work without spilling more, where that is
/// less than the 64 that blocks of 1024 threads leave: more lanes then fit on a multiprocessor
/// (docs/decisions/0045). 0: not known. Specialised for functors; the CPU has no such limit.
template <class Functor>
inline constexpr int enough_registers = 0;

/// What managers and programs need to know about a machine.
struct device_properties {
  /// "cuda" or "cpu"
  std::string backend;
  std::string name;
  /// Total device memory, in bytes.
  std::size_t memory_bytes = 0;
  /// The number of multiprocessors. `sm_id()` exceeds it on some GPUs: take that modulo this.
  std::uint32_t multiprocessors = 1;
  /// The number of threads that can be resident at once, on all multiprocessors together.
  std::uint32_t resident_threads = 1;
  std::string driver;
  std::string toolkit;
};

}  // namespace simt
WARPHEAP_END_NAMESPACE
