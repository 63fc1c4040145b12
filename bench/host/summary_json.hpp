// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/statistics.hpp"

namespace warpheap::bench {

/// A summary as rows have it; nlohmann::json finds this by its name.
template <class Json>
void to_json(Json& to, const summary& s) {
  to = {{"first", s.first}, {"median", s.median}, {"mean", s.mean}, {"std", s.std},
        {"min", s.min},     {"max", s.max},       {"p50", s.p50},   {"p99", s.p99}};
}

}  // namespace warpheap::bench
