// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <limits>

#include "warpheap/host/policies/fit_policy.hpp"

namespace warpheap::host {

/// The smallest free block that is large enough, the lowest one of equals. An exact fit ends the
/// search (host-based paper, algorithm 3 with its corrections).
struct best_fit {
  template <class Store>
  typename Store::cursor choose(const Store& store, std::size_t bytes, std::size_t alignment) {
    typename Store::cursor best{};
    std::size_t least = std::numeric_limits<std::size_t>::max();
    for (auto where = store.first(); where && least != bytes; where = store.after(where)) {
      const extent free = store.at(where);
      if (free.bytes < least && place_in(free, bytes, alignment)) {
        best = where;
        least = free.bytes;
      }
    }
    return best;
  }
  void taken(extent) {}
};

}  // namespace warpheap::host
