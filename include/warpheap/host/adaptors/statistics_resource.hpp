// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <mutex>

#include "warpheap/host/adaptors/resource_adaptor.hpp"
#include "warpheap/host/pools/pool_stats.hpp"

namespace warpheap::host {

/// Counts the calls and the requested bytes. Copies share the counts.
template <class Resource>
class statistics_resource : public resource_adaptor<statistics_resource<Resource>, Resource> {
  using base = resource_adaptor<statistics_resource<Resource>, Resource>;

 public:
  explicit statistics_resource(Resource upstream)
      : base(std::move(upstream)), shared_(std::make_shared<shared>()) {}

  /// The resource does not know held and pending bytes: those fields are 0.
  pool_stats stats() const {
    const std::lock_guard guard(shared_->lock);
    return shared_->stats;
  }

  template <class Call>
  void* on_allocate(std::size_t bytes, stream_id, Call&& call) {
    try {
      void* memory = call();
      const std::lock_guard guard(shared_->lock);
      shared_->stats.allocated(bytes);
      return memory;
    } catch (...) {
      const std::lock_guard guard(shared_->lock);
      shared_->stats.failed(bytes);
      throw;
    }
  }

  template <class Call>
  void on_deallocate(void*, std::size_t bytes, stream_id, Call&& call) {
    call();
    const std::lock_guard guard(shared_->lock);
    shared_->stats.deallocated(bytes);
  }

  friend bool operator==(const statistics_resource& a, const statistics_resource& b) {
    return a.shared_ == b.shared_;
  }

 private:
  struct shared {
    mutable std::mutex lock;
    pool_stats stats;
  };

  std::shared_ptr<shared> shared_;
};

}  // namespace warpheap::host
