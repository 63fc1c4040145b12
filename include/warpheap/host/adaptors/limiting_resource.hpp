// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "warpheap/core/error.hpp"
#include "warpheap/host/adaptors/resource_adaptor.hpp"

namespace warpheap::host {

/// Refuses requests that would raise the requested bytes in use above a limit. Copies share the
/// count.
template <class Resource>
class limiting_resource : public resource_adaptor<limiting_resource<Resource>, Resource> {
  using base = resource_adaptor<limiting_resource<Resource>, Resource>;

 public:
  /// \param limit_bytes the most that the requested sizes of its live blocks may sum to
  limiting_resource(Resource upstream, std::size_t limit_bytes)
      : base(std::move(upstream)),
        limit_(limit_bytes),
        in_use_(std::make_shared<std::atomic<std::size_t>>(0)) {}

  /// The limit in bytes that it was created with.
  std::size_t limit_bytes() const { return limit_; }
  // Relaxed everywhere: a count of its own that no other memory depends on.
  std::size_t bytes_in_use() const { return in_use_->load(std::memory_order_relaxed); }

  /// \throws out_of_memory above the limit
  template <class Call>
  void* on_allocate(std::size_t bytes, stream_id, Call&& call) {
    std::size_t before = in_use_->load(std::memory_order_relaxed);
    do {
      if (bytes > limit_ - before) {
        throw out_of_memory(std::to_string(bytes) + " bytes were requested; " +
                            std::to_string(before) + " of the limit of " + std::to_string(limit_) +
                            " are in use");
      }
    } while (!in_use_->compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
    try {
      return call();
    } catch (...) {
      in_use_->fetch_sub(bytes, std::memory_order_relaxed);
      throw;
    }
  }

  template <class Call>
  void on_deallocate(void*, std::size_t bytes, stream_id, Call&& call) {
    call();
    in_use_->fetch_sub(bytes, std::memory_order_relaxed);
  }

  friend bool operator==(const limiting_resource& a, const limiting_resource& b) {
    return a.in_use_ == b.in_use_;
  }

 private:
  std::size_t limit_;
  std::shared_ptr<std::atomic<std::size_t>> in_use_;
};

}  // namespace warpheap::host
