// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace warpheap::host {

/// How hard a policy looks for a free block before it gives up.
enum class effort {
  bounded,   ///< within the policy's usual complexity
  thorough,  ///< finds a block if any block fits; asked for only where a failure would cost more
};

/// What a policy is made from.
struct policy_options {
  /// Every block starts at a multiple of it and is a multiple of it long. A power of two.
  std::size_t granule_bytes = 256;
};

}  // namespace warpheap::host
