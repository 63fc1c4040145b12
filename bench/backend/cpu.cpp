// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bench/backend/cpu_machine.hpp"
#include "bench/backend/program.hpp"

namespace warpheap::bench {

backend_info describe_backend() { return backend::describe("cpu", 256_MiB); }

std::unique_ptr<machine> open_machine() {
  return std::make_unique<backend::cpu_machine>(device::cpu(), backend::make_catalog());
}

}  // namespace warpheap::bench
