// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <stdexcept>

namespace warpheap {

/// Base of everything that warpheap throws. Host code only: lanes never throw. The message names
/// the offending value and the limit that it exceeds.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An argument is outside what the callee accepts.
class invalid_argument : public error {
 public:
  using error::error;
};

/// The machine has less memory than the request needs.
class out_of_memory : public error {
 public:
  using error::error;
};

}  // namespace warpheap
