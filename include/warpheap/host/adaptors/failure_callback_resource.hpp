// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <functional>
#include <memory>

#include "warpheap/core/error.hpp"
#include "warpheap/host/adaptors/resource_adaptor.hpp"

namespace warpheap::host {

/// Calls a callback when out of memory: the callback may free something and return true to try
/// again, or return false to give up. `Exception` is the type that means "out of memory".
template <class Resource, class Exception = out_of_memory>
class failure_callback_resource
    : public resource_adaptor<failure_callback_resource<Resource, Exception>, Resource> {
  using base = resource_adaptor<failure_callback_resource<Resource, Exception>, Resource>;

 public:
  using callback = std::function<bool(std::size_t bytes)>;

  failure_callback_resource(Resource upstream, callback ask)
      : base(std::move(upstream)), ask_(std::make_shared<callback>(std::move(ask))) {}

  template <class Call>
  void* on_allocate(std::size_t bytes, stream_id, Call&& call) {
    while (true) {
      try {
        return call();
      } catch (const Exception&) {
        if (!(*ask_)(bytes)) throw;
      }
    }
  }

  template <class Call>
  void on_deallocate(void*, std::size_t, stream_id, Call&& call) {
    call();
  }

  friend bool operator==(const failure_callback_resource& a, const failure_callback_resource& b) {
    return a.ask_ == b.ask_;
  }

 private:
  std::shared_ptr<callback> ask_;
};

}  // namespace warpheap::host
