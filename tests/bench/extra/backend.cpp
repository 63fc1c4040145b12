// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The smallest program: the CPU model and the default manager alone.
#include "bench/backend/cpu_machine.hpp"
#include "bench/backend/describe.hpp"
#include "bench/backend/heap_of.hpp"
#include "warpheap/core/units.hpp"
#include "warpheap/default_manager.hpp"

namespace warpheap::bench {

backend_info describe_backend() {
  backend_info described;
  described.name = "cpu";
  described.managers = {backend::info_of<default_manager>()};
  described.default_heap_bytes = 16_MiB;
  return described;
}

std::unique_ptr<machine> open_machine() {
  return std::make_unique<backend::cpu_machine>(
      device::cpu(), backend::catalog{backend::entry_of<default_manager>()});
}

}  // namespace warpheap::bench
