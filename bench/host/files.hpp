// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/host/parameters.hpp"

#include <cerrno>
#include <string>
#include <system_error>

namespace warpheap::bench {

/// For a file that could not be written just now, with what the system said.
inline usage_error cannot_write(const std::string& path) {
  return usage_error(path + ": cannot be written: " + std::generic_category().message(errno));
}

}  // namespace warpheap::bench
