// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/host/policies/fit_policy.hpp"

namespace warpheap::host {

/// The lowest free block that is large enough.
struct first_fit {
  template <class Store>
  typename Store::cursor choose(const Store& store, std::size_t bytes, std::size_t alignment) {
    auto where = store.first();
    while (where && !place_in(store.at(where), bytes, alignment)) where = store.after(where);
    return where;
  }
  void taken(extent) {}
};

}  // namespace warpheap::host
