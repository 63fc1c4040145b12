/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef DROPIN_LANE_STEPS_H
#define DROPIN_LANE_STEPS_H

#include "check.h"

#include <chrono>
#include <thread>

/* How far each lane of a kernel has come, in memory that the host reads while the kernel runs: so a
 * program can say where the lanes of a kernel are that has not finished in time. Lanes store to
 * their byte of `seen_by_device` through a volatile pointer. */
class lane_steps {
 public:
  explicit lane_steps(unsigned lanes) : lanes_(lanes) {
    CUDA_CHECK(cudaHostAlloc(&bytes_, lanes, cudaHostAllocMapped));
    void* device = nullptr;
    CUDA_CHECK(cudaHostGetDevicePointer(&device, bytes_, 0));
    seen_by_device_ = static_cast<unsigned char*>(device);
    clear();
  }

  unsigned char* seen_by_device() const { return seen_by_device_; }
  void clear() {
    for (unsigned lane = 0; lane < lanes_; ++lane) bytes_[lane] = 0;
  }

  /* Waits for the kernel. After this many seconds, it says how many lanes are at each of the steps,
   * and ends the program with status 1, without a destructor that would wait for the device. */
  void wait(int seconds, const char* what) const {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::seconds(seconds);
    cudaError_t status = cudaErrorNotReady;
    while (clock::now() < end && (status = cudaStreamQuery(nullptr)) == cudaErrorNotReady) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (status != cudaErrorNotReady) {
      CUDA_CHECK(status);
      return;
    }
    unsigned at[256] = {};
    for (unsigned lane = 0; lane < lanes_; ++lane) {
      ++at[static_cast<volatile unsigned char*>(bytes_)[lane]];
    }
    std::fprintf(stderr, "%s: not finished after %d s;", what, seconds);
    for (int step = 0; step < 256; ++step) {
      if (at[step] != 0) std::fprintf(stderr, " %u lanes at step %d", at[step], step);
    }
    std::fprintf(stderr, "\n");
    std::_Exit(1);
  }

 private:
  unsigned lanes_;
  unsigned char* bytes_ = nullptr;
  unsigned char* seen_by_device_ = nullptr;
};

#endif
