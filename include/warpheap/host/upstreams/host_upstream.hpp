// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "warpheap/core/align.hpp"
#include "warpheap/host/upstreams/upstream.hpp"

namespace warpheap::host {

/// Memory of the host.
class host_upstream final : public upstream {
 public:
  void* allocate(std::size_t bytes) override {
    return std::aligned_alloc(page, align_up(bytes, page));
  }
  void deallocate(void* memory, std::size_t) noexcept override { std::free(memory); }
  std::string_view name() const override { return "host"; }

 private:
  static constexpr std::size_t page = 4096;
};

}  // namespace warpheap::host
