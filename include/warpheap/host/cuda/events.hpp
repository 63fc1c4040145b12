// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <vector>

#include "warpheap/host/cuda/device_context.hpp"
#include "warpheap/host/streams/stream.hpp"

namespace warpheap::host::cuda {

/// The events of CUDA streams, recycled. For a stream that may have been destroyed, an event of all
/// streams of the device is recorded. If the driver cannot record one (it is too old, or shutting
/// down), the caller waits for the device; then everything has happened, which the null event
/// represents.
class events final : public stream_events {
 public:
  explicit events(int ordinal) : device_(ordinal) {}
  ~events() override {
    const device_context::scope current(device_);
    for (const CUevent event : idle_) driver::get().cuEventDestroy_ptr(event);
  }

  event_handle record(stream_id stream) override {
    return record_by([stream](const driver& d, CUevent event) {
      return d.cuEventRecord_ptr(event, handle(stream));
    });
  }

  event_handle record_absent(stream_id stream) override {
    // The one stream that always exists.
    if (stream == stream_id::legacy_default) return record(stream);
    return record_by([this](const driver& d, CUevent event) {
      if (d.cuCtxRecordEvent_ptr == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
      return d.cuCtxRecordEvent_ptr(device_.context(), event);
    });
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

  bool is_captured(stream_id stream) override {
    if (stream == stream_id::none) return false;
    const device_context::scope current(device_);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult asked = driver::get().cuStreamIsCapturing_ptr(handle(stream), &status);
    return asked != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_NONE;
  }

  void recycle(event_handle event) override {
    if (event != nullptr) idle_.push_back(static_cast<CUevent>(event));
  }

 private:
  static CUstream handle(stream_id stream) { return reinterpret_cast<CUstream>(stream); }

  template <class Recording>
  event_handle record_by(Recording&& recording) {
    const driver& d = driver::get();
    const device_context::scope current(device_);
    const CUevent event = take();
    if (event != nullptr && recording(d, event) == CUDA_SUCCESS) return event;
    if (event != nullptr) idle_.push_back(event);
    d.cuCtxSynchronize_ptr();
    return nullptr;
  }

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
