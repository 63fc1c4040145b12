// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/simt/cpu/lane.hpp"

#include <utility>

// Lanes keep the tests' own records by plain accesses. That is exact, because the explorer switches
// lanes only at the points of the seam, and these accesses have none. ThreadSanitizer cannot know
// that.
#if WARPHEAP_THREAD_SANITIZER
#define WARPHEAP_UNTRACKED __attribute__((no_sanitize("thread"), noinline))
#else
#define WARPHEAP_UNTRACKED
#endif

WARPHEAP_BEGIN_NAMESPACE
namespace verify {

/// A number of a case's own records, which lanes change without order and ThreadSanitizer does not
/// track. Not for what a structure hands from lane to lane: ThreadSanitizer must check that the
/// structure orders it.
template <class T>
class untracked {
 public:
  constexpr untracked(T value = T{}) : value_(value) {}

  WARPHEAP_UNTRACKED operator T() const { return value_; }
  WARPHEAP_UNTRACKED untracked& operator=(T value) {
    value_ = value;
    return *this;
  }
  WARPHEAP_UNTRACKED untracked& operator+=(T value) {
    value_ += value;
    return *this;
  }
  WARPHEAP_UNTRACKED T operator++() { return ++value_; }

 private:
  T value_;
};

}  // namespace verify
WARPHEAP_END_NAMESPACE
