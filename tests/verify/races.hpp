// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// The first data race that ThreadSanitizer has reported since the last call, in a line; empty if
/// there was none, or if this program is not built with it. Its own report is on stderr.
std::string race_since_last_call();

}  // namespace verify
WARPHEAP_END_NAMESPACE
