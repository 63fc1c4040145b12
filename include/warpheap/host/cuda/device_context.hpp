// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

#include "warpheap/host/cuda/driver.hpp"

namespace warpheap::host::cuda {

/// A device and its primary context, which the CUDA runtime and the frameworks use.
class device_context {
 public:
  /// \throws invalid_argument if there is no such device, error if the driver fails
  explicit device_context(int ordinal) : ordinal_(ordinal) {
    const driver& d = driver::get();
    int count = 0;
    d.expect(d.cuDeviceGetCount_ptr(&count), "the devices cannot be counted");
    if (ordinal < 0 || ordinal >= count) {
      throw invalid_argument("CUDA device " + std::to_string(ordinal) +
                             " does not exist: the machine has " + std::to_string(count));
    }
    d.expect(d.cuDeviceGet_ptr(&device_, ordinal), "cannot find the CUDA device");
    // Never released: the frameworks release theirs at an unknown time during exit.
    d.expect(d.cuDevicePrimaryCtxRetain_ptr(&context_, device_), "the device cannot be used");
  }

  int ordinal() const { return ordinal_; }
  CUdevice device() const { return device_; }
  CUcontext context() const { return context_; }

  /// Makes the device current for as long as it lives.
  class scope {
   public:
    // In the frameworks' threads, it nearly always is.
    explicit scope(const device_context& device) {
      CUcontext current = nullptr;
      driver::get().cuCtxGetCurrent_ptr(&current);
      pushed_ = current != device.context_;
      if (pushed_) driver::get().cuCtxPushCurrent_ptr(device.context_);
    }
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope() {
      if (!pushed_) return;
      CUcontext popped = nullptr;
      driver::get().cuCtxPopCurrent_ptr(&popped);
    }

   private:
    bool pushed_;
  };

 private:
  int ordinal_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

}  // namespace warpheap::host::cuda
