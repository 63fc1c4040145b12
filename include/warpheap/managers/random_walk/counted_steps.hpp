// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Walks that count their steps, and walks that do not.

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

// What a walk calls at each of its steps: a template argument of the managers of pages, so that
// only those that are measured carry the count.

/// Counts nothing, costs nothing.
struct uncounted_steps {
  WARPHEAP_DEVICE void step() const {}
};

/// Counts the steps of each thread.
class counted_steps {
 public:
  /// \param counts one for each thread of the launch, to be cleared before
  WARPHEAP_HD explicit counted_steps(std::uint32_t* counts) : counts_(counts) {}

  WARPHEAP_DEVICE void step() const { ++counts_[simt::thread_rank()]; }

 private:
  std::uint32_t* counts_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
