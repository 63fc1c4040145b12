// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for cuda/upstreams.cpp where there is no CUDA toolkit.
#include <string>

#include "make_named.hpp"
#include "warpheap/core/error.hpp"

namespace warpheap::host {
namespace {

[[noreturn]] void refuse(std::string_view name) {
  throw error("'" + std::string(name) + "' needs CUDA, and this library was built without cuda.h");
}

}  // namespace

std::unique_ptr<pool_interface> make_driver_allocator(std::string_view name, int) { refuse(name); }

memory_source make_device_source(std::string_view name, int) { refuse(name); }

}  // namespace warpheap::host
