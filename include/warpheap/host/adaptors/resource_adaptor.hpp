// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <utility>

#include "warpheap/host/resources/earlier_names.hpp"
#include "warpheap/host/resources/pool_resource.hpp"
#include "warpheap/host/resources/stream_like.hpp"

namespace warpheap::host {

/// The common part of the wrappers around a resource: each is itself a resource with the properties
/// of the one it wraps, so they stack in any order. `Resource` is anything with the four functions
/// of `cuda::mr::resource` (a `pool_resource`, one of RMM's, a `cuda::mr::any_resource`, ...), held
/// by value.
///
/// A wrapper `Derived` has two functions, through which every call passes. `call()` makes the call;
/// they may handle its exceptions or let them pass.
/// - `void* on_allocate(std::size_t bytes, stream_id stream, Call call)`
/// - `void on_deallocate(void* memory, std::size_t bytes, stream_id stream, Call call)`
template <class Derived, class Resource>
class resource_adaptor : public earlier_names<resource_adaptor<Derived, Resource>> {
 public:
  using earlier_names<resource_adaptor>::allocate;
  using earlier_names<resource_adaptor>::deallocate;

  using wrapped_resource = Resource;

  static constexpr std::size_t default_alignment = pool_resource::default_alignment;

  /// \param upstream serves all calls; a copy is kept
  explicit resource_adaptor(Resource upstream) : upstream_(std::move(upstream)) {}

  /// Does what the wrapped resource does, errors included, plus what the adaptor adds; likewise the
  /// functions below.
  template <stream_like Stream>
  void* allocate(Stream stream, std::size_t bytes, std::size_t alignment = default_alignment) {
    return derived().on_allocate(bytes, id_of(stream),
                                 [&] { return upstream_.allocate(stream, bytes, alignment); });
  }
  template <stream_like Stream>
  void deallocate(Stream stream, void* memory, std::size_t bytes,
                  std::size_t alignment = default_alignment) {
    derived().on_deallocate(memory, bytes, id_of(stream),
                            [&] { upstream_.deallocate(stream, memory, bytes, alignment); });
  }
  void* allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) {
    return derived().on_allocate(bytes, stream_id::none,
                                 [&] { return upstream_.allocate_sync(bytes, alignment); });
  }
  void deallocate_sync(void* memory, std::size_t bytes, std::size_t alignment = default_alignment) {
    derived().on_deallocate(memory, bytes, stream_id::none,
                            [&] { upstream_.deallocate_sync(memory, bytes, alignment); });
  }

  /// The wrapped resource.
  const Resource& upstream_resource() const { return upstream_; }

 private:
  Derived& derived() { return static_cast<Derived&>(*this); }

  Resource upstream_;
};

/// A wrapper has every property of the resource that it wraps.
template <class Adaptor, class Property>
requires requires { typename Adaptor::wrapped_resource; }
constexpr auto get_property(const Adaptor& adaptor, Property property)
    -> decltype(get_property(adaptor.upstream_resource(), property)) {
  return get_property(adaptor.upstream_resource(), property);
}

}  // namespace warpheap::host
