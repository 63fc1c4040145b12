// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/config.hpp"

#include <cuda_runtime_api.h>

WARPHEAP_BEGIN_NAMESPACE

/// While one lives, this thread is in the code behind `malloc` in kernels: the launches that lay a
/// heap out, or look at it, pass through the hooks, too, and must not ask for the heap, whose lock
/// the thread may hold.
///
/// While a thread captures a stream, CUDA refuses most of its calls that concern other streams,
/// too, unless it says that it knows what it does. Ours are of a queue that nobody captures.
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
