// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/explorer.hpp"

#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// Runs one schedule of a program that uses everything that a schedule can order (atomics, groups,
/// collectives, barriers, backoff, noise), and gives its trace and what the lanes computed.
std::string traced_schedule(const simt::schedule& order);

}  // namespace test
WARPHEAP_END_NAMESPACE
