// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "warpheap/host/cuda/driver.hpp"
#include "warpheap/host/stream.hpp"

namespace warpheap::host::cuda {

/// The events of CUDA streams, recycled. A stream that can no longer be asked (it was destroyed, or
/// the driver is going down) is waited for with the whole device; then everything has happened,
/// which the null event stands for.
class events final : public stream_events {
 public:
  explicit events(int ordinal) : device_(ordinal) {}
  ~events() override {
    const device_context::scope current(device_);
    for (const CUevent event : idle_) driver::get().cuEventDestroy_ptr(event);
  }

  event_handle record(stream_id stream) override {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const CUevent event = take();
    if (event != nullptr && d.cuEventRecord_ptr(event, handle(stream)) == CUDA_SUCCESS) {
      return event;
    }
    if (event != nullptr) idle_.push_back(event);
    d.cuCtxSynchronize_ptr();
    return nullptr;
  }

  bool happened(event_handle event) override {
    if (event == nullptr) return true;
    const device_context::scope current(device_);
    return driver::get().cuEventQuery_ptr(static_cast<CUevent>(event)) != CUDA_ERROR_NOT_READY;
  }

  void make_wait(stream_id stream, event_handle event) override {
    if (event == nullptr) return;
    const driver& d = driver::get();
    const device_context::scope current(device_);
    if (d.cuStreamWaitEvent_ptr(handle(stream), static_cast<CUevent>(event), 0) != CUDA_SUCCESS) {
      d.cuEventSynchronize_ptr(static_cast<CUevent>(event));
    }
  }

  void wait_for(event_handle event) override {
    if (event == nullptr) return;
    const device_context::scope current(device_);
    driver::get().cuEventSynchronize_ptr(static_cast<CUevent>(event));
  }

  void recycle(event_handle event) override {
    if (event != nullptr) idle_.push_back(static_cast<CUevent>(event));
  }

 private:
  static CUstream handle(stream_id stream) { return reinterpret_cast<CUstream>(stream); }

  CUevent take() {
    if (!idle_.empty()) {
      const CUevent event = idle_.back();
      idle_.pop_back();
      return event;
    }
    CUevent event = nullptr;
    const CUresult made = driver::get().cuEventCreate_ptr(&event, CU_EVENT_DISABLE_TIMING);
    return made == CUDA_SUCCESS ? event : nullptr;
  }

  device_context device_;
  std::vector<CUevent> idle_;
};

}  // namespace warpheap::host::cuda
