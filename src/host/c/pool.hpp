// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "status.hpp"
#include "warpheap/host/c/pool.h"
#include "warpheap/host/pools/pool_interface.hpp"

struct warpheap_pool {
  std::unique_ptr<warpheap::host::pool_interface> pool;
};
