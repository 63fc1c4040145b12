// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The properties of a machine that a manager may lay itself out for.
inline simt::device_properties machine_of(std::uint32_t multiprocessors,
                                          std::uint32_t resident_threads = 1) {
  simt::device_properties properties;
  properties.multiprocessors = multiprocessors;
  properties.resident_threads = resident_threads;
  return properties;
}

}  // namespace test
WARPHEAP_END_NAMESPACE
