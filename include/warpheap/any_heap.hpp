// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A heap owned by host code. Any C++20 compiler can read this header, which has no kernels and no
/// CUDA. The heap itself comes from code that nvcc compiles (the target `warpheap::cuda`, or one of
/// the user's `.cu` files), and kernels get its handle there.
///
///     // owner.cpp, compiled by g++                    // kernels.cu, compiled by nvcc
///     #include <warpheap/any_heap.hpp>                 #include <warpheap/warpheap.hpp>
///     auto heap = warpheap::make_cuda_heap(0, bytes);  void run(const warpheap::any_heap& heap) {
///     run(heap);                                         auto ref =
///     std::puts(heap.report().c_str());                      heap.ref<warpheap::heap_ref>();
///                                                        kernel<<<grid, block>>>(ref);
///                                                      }

#include "warpheap/core/error.hpp"
#include "warpheap/heap/stats.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace warpheap {

/// Owns a `heap<M>` of any manager on any device. Move-only, like the heap. Its members are those
/// of `heap<M>`, at the price of a virtual call; after a move from it they throw invalid_argument.
class any_heap {
 public:
  /// Takes over a heap. Needs its manager, so it is for `.cu` files and code for the CPU model.
  template <class Heap>
  requires requires {
    typename Heap::manager_type;
    typename Heap::ref_type;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a heap is an any_heap, also where it is returned
  any_heap(Heap&& heap) : owned_(std::make_unique<owned<Heap>>(std::forward<Heap>(heap))) {
    static_assert(!std::is_reference_v<Heap>, "any_heap takes the heap over: std::move it");
  }

  /// The handle for kernels, by its type: `heap_ref`, or `handle<M>`. Valid as long as the heap
  /// exists. O(1).
  /// \throws invalid_argument if the heap has another manager, or was compiled for another model
  template <class Handle>
  Handle ref() const {
    const void* handle = known().handle(typeid(Handle));
    if (handle == nullptr) {
      throw invalid_argument("this heap of " + manager() + " on " + device() +
                             " has a handle of type " + known().handle_type().name() + ", not " +
                             typeid(Handle).name());
    }
    return *static_cast<const Handle*>(handle);
  }

  /// Name of the manager.
  std::string manager() const { return known().manager(); }
  /// Name of the device.
  std::string device() const { return known().device(); }
  /// Bytes of its region, including everything that the manager keeps in it. O(1).
  std::size_t bytes() const { return known().bytes(); }
  /// Bytes of the largest request that this heap can serve. O(1).
  std::size_t largest_block() const { return known().largest_block(); }
  /// Frees everything at once. All blocks become invalid. O(metadata).
  void reset() { known().reset(); }
  /// Blocks in use, and requests that failed. O(metadata), on the device.
  heap_stats stats() const { return known().stats(); }
  /// Checks the manager's numbered invariants. O(metadata), on the device.
  validation validate() const { return known().validate(); }
  /// What is in use, and what failed and why, in a few lines. O(metadata), on the device.
  std::string report() const { return known().report(); }

 private:
  struct interface {
    virtual ~interface() = default;
    virtual const void* handle(const std::type_info& type) const = 0;
    virtual const std::type_info& handle_type() const = 0;
    virtual std::string manager() const = 0;
    virtual std::string device() const = 0;
    virtual std::size_t bytes() const = 0;
    virtual std::size_t largest_block() const = 0;
    virtual void reset() = 0;
    virtual heap_stats stats() const = 0;
    virtual warpheap::validation validate() const = 0;
    virtual std::string report() const = 0;
  };

  template <class Heap>
  struct owned final : interface {
    explicit owned(Heap&& from) : heap(std::move(from)), ref(heap.ref()) {}
    const void* handle(const std::type_info& type) const override {
      return type == typeid(ref) ? &ref : nullptr;
    }
    const std::type_info& handle_type() const override { return typeid(ref); }
    std::string manager() const override { return Heap::manager_type::about.name; }
    std::string device() const override { return heap.on().properties().name; }
    std::size_t bytes() const override { return heap.bytes(); }
    std::size_t largest_block() const override { return heap.largest_block(); }
    void reset() override { heap.reset(); }
    heap_stats stats() const override { return heap.stats(); }
    warpheap::validation validate() const override { return heap.validate(); }
    std::string report() const override { return heap.report(); }

    Heap heap;
    typename Heap::ref_type ref;
  };

  interface& known() const {
    if (owned_ == nullptr) throw invalid_argument("this heap was moved from");
    return *owned_;
  }

  std::unique_ptr<interface> owned_;
};

/// How a CUDA heap is created.
struct cuda_heap_options {
  /// The stream (a `cudaStream_t`) on which the heap is created, reset and inspected. Null: the
  /// default stream, and those calls wait for the whole device.
  void* stream = nullptr;
  /// The caller's device memory, which must outlive the heap. Null: the heap allocates its own.
  void* memory = nullptr;
};

/// Creates a heap of the default manager on a CUDA device. In the target `warpheap::cuda`.
/// \param ordinal number of the device
/// \param bytes size of the heap, including everything that the manager keeps in it
/// \throws invalid_argument if the device does not exist or `bytes` is too small; out_of_memory if
///   the device has less
any_heap make_cuda_heap(int ordinal, std::size_t bytes, const cuda_heap_options& how = {});

/// The same in the CPU model, which runs lanes on the host. In the target `warpheap::cpu`.
any_heap make_cpu_heap(std::size_t bytes);

}  // namespace warpheap
