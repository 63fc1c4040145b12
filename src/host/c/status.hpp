// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <exception>
#include <string>
#include <utility>

#include "warpheap/core/error.hpp"
#include "warpheap/host/c/status.h"

namespace warpheap::host {

/// The string that warpheap_last_error() returns in this thread.
inline std::string& last_error() {
  thread_local std::string message;
  return message;
}

inline warpheap_status failed(warpheap_status status, std::string message) {
  last_error() = std::move(message);
  return status;
}

/// Runs a call and turns exceptions into a status: none may propagate through C.
template <class Call>
warpheap_status guarded(Call&& call) {
  try {
    call();
    return WARPHEAP_OK;
  } catch (const invalid_argument& e) {
    return failed(WARPHEAP_INVALID_ARGUMENT, e.what());
  } catch (const out_of_memory& e) {
    return failed(WARPHEAP_OUT_OF_MEMORY, e.what());
  } catch (const std::exception& e) {
    return failed(WARPHEAP_ERROR, e.what());
  }
}

}  // namespace warpheap::host
