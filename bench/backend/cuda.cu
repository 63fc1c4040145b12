// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/backend/cuda/machine.hpp"
#include "bench/backend/program.hpp"

namespace warpheap::bench {

backend_info describe_backend() { return backend::describe("cuda", 1_GiB); }

std::unique_ptr<machine> open_machine() {
  return std::make_unique<backend::cuda_machine>(0, backend::make_catalog());
}

}  // namespace warpheap::bench
