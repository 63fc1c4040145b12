// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/manager.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>

WARPHEAP_BEGIN_NAMESPACE

/// A request for which the handle returns null.
struct failed_request {
  failure_reason why = failure_reason::exhausted;
  std::size_t bytes = 0;
  std::size_t largest_block = 0;
  /// The lane that asked, with the tag of its handle.
  caller by{};
};

/// Prints the request and ends the kernel (CUDA) or the program (CPU model) at that point, where a
/// debugger shows the lane.
struct trap_on_failure {
  WARPHEAP_DEVICE void operator()(const failed_request& request) const {
    const auto number = [](auto value) { return static_cast<unsigned long long>(value); };
    std::printf(
        "warpheap: malloc(%llu) returned null: %s %llu bytes; block %llu thread %llu tag %llu\n",
        number(request.bytes),
        request.why == failure_reason::impossible ? "this heap never serves it, and at most"
                                                  : "the heap is exhausted, and serves at most",
        number(request.largest_block), number(request.by.block()), number(request.by.thread()),
        number(request.by.tag()));
    simt::trap();
  }
};

/// Calls `Action{}(failed_request)` in the lane of each request that is about to return null. For
/// debugging, over any manager of blocks and over all other layers. Requests that are served cost
/// nothing extra.
///
///     warpheap::heap<warpheap::on_failure<warpheap::default_manager>> heap{device, 1_GiB};
template <block_manager M, class Action = trap_on_failure>
class on_failure : public M {
 public:
  using M::M;

  /// Called by the handle for each request that is about to return null.
  WARPHEAP_DEVICE void failed(std::size_t bytes, failure_reason why) const {
    Action{}(failed_request{why, bytes, M::largest_block(), caller::here(tag_)});
  }

  /// A copy whose calls are reported with this tag, below 2^22.
  WARPHEAP_HD on_failure tagged(std::uint32_t tag) const {
    on_failure same = *this;
    if constexpr (tags_calls<M>) static_cast<M&>(same) = M::tagged(tag);
    same.tag_ = tag;
    return same;
  }

 private:
  std::uint32_t tag_ = 0;
};

WARPHEAP_END_NAMESPACE
