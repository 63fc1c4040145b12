// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/call_time.hpp"

namespace warpheap::bench {

/// A request whose kernel's mallocs and frees are timed, if there is a place for that.
template <class Request>
struct metered_request {
  Request request;
  call_time* time = nullptr;
};

}  // namespace warpheap::bench
