// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>

#include "status.hpp"
#include "warpheap/host/c/pool.h"
#include "warpheap/host/pools/memory_pool.hpp"

struct warpheap_pool {
  std::unique_ptr<warpheap::host::memory_pool> pool;
};
