// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cuda_runtime_api.h>

WARPHEAP_BEGIN_NAMESPACE

/// While an `entry` exists, this thread is in the code behind `malloc` in kernels: launches that
/// lay out or inspect a heap also pass through the hooks, and must not ask for the heap, whose lock
/// the thread may hold.
///
/// While a thread captures a stream, CUDA also refuses most of its calls that concern other
/// streams, unless the thread opts out of these checks. Our calls concern a queue that is never
/// captured.
class entry {
 public:
  entry() {
    inside = true;
    cudaThreadExchangeStreamCaptureMode(&mode_);
  }
  ~entry() {
    cudaThreadExchangeStreamCaptureMode(&mode_);
    inside = false;
  }
  entry(const entry&) = delete;
  entry& operator=(const entry&) = delete;

  static bool is_inside() { return inside; }

 private:
  /// Each module's own, as its hooks and kernels are.
  static inline thread_local bool inside = false;

  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

WARPHEAP_END_NAMESPACE
