// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

/// A CUDA driver without a device: one GPU of 1 GiB, if a test says nothing else, whose memory is
/// only counted. A program that is linked with it finds it wherever it looks for `libcuda.so.1`.
/// For one thread.
struct fake_driver {
  static constexpr std::size_t usual_device_bytes = std::size_t{1} << 30;
  static constexpr std::size_t page = std::size_t{2} << 20;
  /// Addresses that can be reserved: those of a process.
  static constexpr std::size_t address_limit = std::size_t{1} << 47;

  std::size_t device_bytes = usual_device_bytes;

  /// The one of this process.
  static fake_driver& get();

  /// What the next calls of a function return instead of doing anything, after `after` more calls
  /// that succeed.
  struct refusal {
    CUresult error;
    int after = 0;
  };
  std::map<std::string, refusal> refusals;

  std::map<CUdeviceptr, std::size_t> blocks;       ///< of cuMemAlloc and cuMemAllocAsync
  std::map<CUdeviceptr, std::size_t> addresses;    ///< reserved
  std::set<CUmemGenericAllocationHandle> handles;  ///< of cuMemCreate
  std::map<CUdeviceptr, CUmemGenericAllocationHandle> mapped;
  std::set<CUevent> events;
  int waits = 0;  ///< of the caller, for an event or for all

  std::vector<CUcontext> contexts;  ///< of the thread; the last one is current
  int strays = 0;                   ///< calls for the device while its context was not current

  std::size_t reserved() const {
    std::size_t bytes = 0;
    for (const auto& [place, size] : addresses) bytes += size;
    return bytes;
  }
  std::size_t used() const {
    std::size_t bytes = handles.size() * page;
    for (const auto& [place, size] : blocks) bytes += size;
    return bytes;
  }
};
