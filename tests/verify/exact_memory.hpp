// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/region.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// Zeroed memory for a heap, of just this size: AddressSanitizer finds the first byte behind it.
/// Without it there is room for a block more, so that a mutant which hands that out damages
/// nobody's memory, and is found in the same way again.
class exact_memory {
 public:
  explicit exact_memory(std::size_t bytes) : bytes_(bytes) {
    void* memory = nullptr;
    constexpr std::size_t alignment =
        4096;  // no block is aligned by where the memory happens to be
    const std::size_t all = bytes + behind;
    if (posix_memalign(&memory, alignment, all) != 0) throw std::bad_alloc();
    base_.reset(static_cast<std::byte*>(std::memset(memory, 0, all)));
  }

  std::byte* base() const { return base_.get(); }
  region all() const { return {base(), bytes_}; }

 private:
  static constexpr std::size_t behind = WARPHEAP_TEST_SANITIZED ? 0 : 4096;

  struct releaser {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, releaser> base_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
