// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/call_time.hpp"

namespace warpheap::bench {

/// An update of a dynamic graph whose mallocs and frees are timed, if there is a place for that.
/// \tparam Update `graph_data::insertion<L>` or `graph_data::deletion<L>`
template <class Update>
struct metered_update {
  Update update;
  call_time* time = nullptr;
};

}  // namespace warpheap::bench
