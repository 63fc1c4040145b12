// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

#include "warpheap/host/policies/fit_policy.hpp"

namespace warpheap::host {

/// The first free block that is large enough at or after the end of the block that was handed out
/// last, and from the start when there is none. The place is kept as an address: no merge or split
/// invalidates it.
class next_fit {
 public:
  template <class Store>
  typename Store::cursor choose(const Store& store, std::size_t bytes, std::size_t alignment) {
    for (auto where = store.from(resume_); where; where = store.after(where)) {
      if (place_in(store.at(where), bytes, alignment)) return where;
    }
    for (auto where = store.first(); where && store.at(where).end() <= resume_;
         where = store.after(where)) {
      if (place_in(store.at(where), bytes, alignment)) return where;
    }
    return {};
  }
  void taken(extent piece) { resume_ = piece.end(); }

 private:
  address resume_ = 0;
};

}  // namespace warpheap::host
