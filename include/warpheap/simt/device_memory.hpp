// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <memory>

WARPHEAP_BEGIN_NAMESPACE

/// Device memory with an owner. Move-only; contents are what the device leaves there.
class device_memory {
 public:
  /// \throws out_of_memory if the device has less than `bytes`
  device_memory(const device& on, std::size_t bytes)
      : memory_(static_cast<std::byte*>(on.allocate(bytes)), releaser{on, bytes}) {}

  std::byte* get() const { return memory_.get(); }

 private:
  struct releaser {
    device on;
    std::size_t bytes;
    void operator()(std::byte* pointer) const noexcept { on.deallocate(pointer, bytes); }
  };
  std::unique_ptr<std::byte, releaser> memory_;
};

WARPHEAP_END_NAMESPACE
