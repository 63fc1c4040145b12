// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace warpheap::host {

/// How hard a policy looks for a free block before it gives up.
enum class effort {
  bounded,   ///< within the policy's usual complexity
  thorough,  ///< finds a block if any block fits; only used where a failure would cost more
};

/// What a policy is made from.
struct policy_options {
  /// The addresses and sizes of all blocks are multiples of it. A power of two.
  std::size_t granule_bytes = 256;
};

}  // namespace warpheap::host
