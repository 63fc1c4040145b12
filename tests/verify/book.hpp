// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/lane.hpp"

#include <utility>

// Lanes keep the tests' own books with plain accesses. That is exact, because lanes of the explorer
// only change places at the points of the seam, and books have none; ThreadSanitizer cannot know.
#if WARPHEAP_THREAD_SANITIZER
#define WARPHEAP_BOOK __attribute__((no_sanitize("thread"), noinline))
#else
#define WARPHEAP_BOOK
#endif

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A number in a case's books that lanes change without order. What a structure hands from lane to
/// lane does not belong into one: that the structure orders it is what ThreadSanitizer shall check.
template <class T>
class book {
 public:
  constexpr book(T value = T{}) : value_(value) {}

  WARPHEAP_BOOK operator T() const { return value_; }
  WARPHEAP_BOOK book& operator=(T value) {
    value_ = value;
    return *this;
  }
  WARPHEAP_BOOK book& operator+=(T value) {
    value_ += value;
    return *this;
  }
  WARPHEAP_BOOK T operator++() { return ++value_; }

 private:
  T value_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
