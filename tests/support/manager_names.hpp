// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Names typed tests after their managers.
struct manager_names {
  template <class M>
  static std::string GetName(int /*number*/) {
    return M::about.name;
  }
};

}  // namespace test
WARPHEAP_END_NAMESPACE
