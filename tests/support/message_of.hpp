// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <gtest/gtest.h>
#include <string>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// The message of the `Error` that `act` throws; a failure if it returns.
template <class Error, class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Error& thrown) {
    return thrown.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace test
WARPHEAP_END_NAMESPACE
