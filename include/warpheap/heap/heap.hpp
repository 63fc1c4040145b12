// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/heap/capabilities.hpp"
#include "warpheap/heap/handle.hpp"
#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/layout.hpp"
#include "warpheap/heap/stats.hpp"
#include "warpheap/simt/device_memory.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

namespace detail {

// Functors of kernels cannot be private members: nvcc refuses those.
template <manager M>
struct format_lanes {
  M manager;
  failure_counts* failures;
  WARPHEAP_DEVICE void operator()() const {
    if (simt::thread_rank() == 0) *failures = {};
    manager.format(simt::thread_rank(), simt::grid_size());
  }
};

template <growing_manager M>
struct reset_lanes {
  M manager;
  failure_counts* failures;
  WARPHEAP_DEVICE void operator()() const {
    if (simt::thread_rank() == 0) *failures = {};
    manager.reset(simt::thread_rank(), simt::grid_size());
  }
};

/// Launched as one warp.
template <growing_manager M>
struct grow_lanes {
  M manager;
  std::size_t bytes;
  growth_outcome* outcome;
  WARPHEAP_DEVICE void operator()() const {
    const auto came = manager.grow(simt::warp(), bytes);
    if (simt::thread_rank() == 0) *outcome = came;
  }
};

template <manager M>
struct inspect_lanes {
  M manager;
  inspection* findings;
  WARPHEAP_DEVICE void operator()() const {
    manager.inspect(simt::thread_rank(), simt::grid_size(), *findings);
  }
};

/// What the lanes of a kernel add up at `there` on the device, which they find as it is made. Waits
/// for what was queued before, and for the kernel.
template <class Sum, class Kernel>
Sum collect(const device& on, const simt::grid& shape, Sum* there, const Kernel& kernel) {
  on.synchronize();
  Sum found;
  on.copy_to_device(there, &found, sizeof found);
  on.launch(shape, kernel);
  on.synchronize();
  on.copy_to_host(&found, there, sizeof found);
  return found;
}

template <object_manager M, class T>
struct snapshot_lanes {
  M manager;
  WARPHEAP_DEVICE void operator()() const {
    manager.template snapshot<T>(simt::thread_rank(), simt::grid_size());
  }
};

template <object_manager M, class T, class Visit>
struct visit_lanes {
  M manager;
  Visit f;
  WARPHEAP_DEVICE void operator()() const {
    manager.template visit<T>(simt::thread_rank(), simt::grid_size(), f);
  }
};

}  // namespace detail

/// Owns a region of device memory and the manager in it.
///
///     warpheap::heap<warpheap::rw_malloc<>> heap{warpheap::device::cuda(0), 256_MiB};
///     kernel<<<grid, block>>>(heap.ref(), out);
///
/// Do not destroy, reset or inspect it while lanes still use it. Those members first wait for the
/// device or, if the device has its own stream (`device::queue()`, on CUDA also
/// `device::on(stream)`), for that stream only. Memory that the heap allocated itself is freed as
/// CUDA does it, after all work on the device. A heap that was moved from has no region, and its
/// members throw invalid_argument.
template <usable_manager M>
class heap {
  static_assert(M::about.alignment >= least_alignment,
                "capabilities::alignment must be least_alignment, or more");
  static_assert(M::about.growth == growing_manager<M>,
                "about.growth must be true exactly if the manager can grow");

 public:
  using manager_type = M;
  using ref_type = handle<M>;
  using options = typename M::options;

  /// \param bytes size of the region, including everything that the manager keeps in it
  /// \throws out_of_memory if the device has less, invalid_argument if the manager needs more
  heap(const device& on, std::size_t bytes, const options& settings = {})
      : heap(on, device_memory(on, held(bytes)), device_memory(on, sizeof(notes)), bytes,
             settings) {}

  /// In memory from a resource of `cuda::mr` or RMM, or a reference to one. The resource is copied,
  /// and gets the memory back. Its exceptions are passed on.
  /// \throws invalid_argument if the manager needs more
  template <memory_resource R>
  heap(const device& on, R from, std::size_t bytes, const options& settings = {})
      : heap(on, device_memory(from, held(bytes)), device_memory(from, sizeof(notes)), bytes,
             settings) {}

  /// In the caller's memory, which must outlive the heap. The heap keeps the last bytes, less than
  /// 4 KiB, for itself.
  /// \throws invalid_argument if the manager needs more
  heap(const device& on, const region& memory, const options& settings = {})
      : heap(on, device_memory::borrowed(memory.base),
             device_memory::borrowed(memory.base + managed(memory)), managed(memory), settings) {}

  /// The heap that was moved from has no region.
  heap(heap&&) = default;
  heap& operator=(heap&&) = delete;

  ~heap() {
    if constexpr (reports_incidents<M>) {
      if (region_.get() == nullptr) return;  // moved from
      try {
        for (const std::string& line : incidents().lines()) {
          std::fprintf(stderr, "warpheap: %s\n", line.c_str());
        }
      } catch (const error& broken) {
        std::fprintf(stderr, "warpheap: the heap cannot be checked: %s\n", broken.what());
      }
    }
  }

  /// The handle for kernels, passed by value. Valid as long as the heap exists.
  ref_type ref() const {
    require_region();
    return ref_type(manager_, &notes_of()->failures);
  }

  /// The device that it was created on. O(1).
  const device& on() const { return device_; }
  /// Bytes of its region, including everything that the manager keeps in it. O(1).
  std::size_t bytes() const { return bytes_; }

  /// Bytes of the largest request that this heap serves when it is empty. O(1); waits for the
  /// device if part of the region was not memory when the heap was created.
  std::size_t largest_block() const {
    require_region();
    if constexpr (growing_manager<M>) {
      return manager_.bytes_for_blocks(device_);
    } else {
      return manager_.largest_block();
    }
  }

  /// Frees everything at once. All blocks become invalid; memory that was added stays. One launch,
  /// O(metadata) on the device, whatever was allocated.
  void reset() {
    require_region();
    if constexpr (growing_manager<M>) {
      format_by(detail::reset_lanes<M>{manager_, &notes_of()->failures});
    } else {
      format_by(detail::format_lanes<M>{manager_, &notes_of()->failures});
    }
  }

  /// Adds the next `bytes` of the region, which must be memory by now. Kernels on a stream other
  /// than that of `on()` may use the heap meanwhile. O(bytes), by one warp.
  /// \throws invalid_argument unless `bytes` is a multiple of `ref().manager().growth_step()`, not
  ///   0, and at most the rest of the region; nothing has changed then
  void grow(std::size_t bytes) requires growing_manager<M> {
    require_region();
    const std::lock_guard one_at_a_time(*busy_with_notes_);
    growth_outcome* const there = &notes_of()->grown;
    device_.launch({1, simt::warp_size}, detail::grow_lanes<M>{manager_, bytes, there});
    device_.synchronize();
    auto outcome = growth_outcome::grown;
    device_.copy_to_host(&outcome, there, sizeof outcome);
    if (outcome != growth_outcome::grown) refuse_growth(bytes, outcome);
  }

  /// Blocks in use, and requests that failed. O(metadata), on the device. Several host threads may
  /// call it at once.
  heap_stats stats() const {
    const inspection found = inspect();
    failure_counts failed;
    device_.copy_to_host(&failed, &notes_of()->failures, sizeof failed);
    heap_stats result;
    result.heap_bytes = bytes_ - found.bytes_reserved;
    result.largest_block = largest_block();
    result.largest_ever = manager_.largest_block();
    result.blocks_in_use = found.blocks_in_use;
    result.bytes_in_use = found.bytes_in_use;
    for (int i = 0; i < inspection::most_sizes; ++i) {
      const auto& size = found.by_size[i];
      if (size.blocks != 0) {
        result.in_use.push_back({std::uint64_t{1} << i, size.blocks, size.bytes});
      }
    }
    result.failures = failed.requests(failure_reason::exhausted);
    result.last_failed_bytes = failed.last(failure_reason::exhausted);
    result.impossible = failed.requests(failure_reason::impossible);
    result.last_impossible_bytes = failed.last(failure_reason::impossible);
    if constexpr (counts_calls<M>) {
      call_counts& calls = result.calls.emplace();
      device_.copy_to_host(&calls, manager_.counts(), sizeof calls);
    }
    return result;
  }

  /// Checks the manager's numbered invariants. O(metadata), on the device.
  validation validate() const {
    const inspection found = inspect();
    validation result;
    for (int i = 0; i < inspection::most_invariants; ++i) {
      if (found.violations[i] != 0) {
        result.violations.push_back({i + 1, found.violations[i], found.places[i]});
      }
    }
    return result;
  }

  /// What is in use, what failed and why, and anything else that is wrong with the heap, as a few
  /// lines of readable text. O(metadata), on the device; with the layer `checked`, O(heap).
  std::string report() const {
    require_region();
    std::string text = std::string(M::about.name) + " on " + device_.properties().name + "\n" +
                       stats().describe() + validate().describe();
    if constexpr (reports_incidents<M>) {
      for (const std::string& line : incidents().lines()) text += line + "\n";
    }
    return text;
  }

  /// Calls `f(object)` for each object of type T, each in its own lane; `object` is an
  /// `M::pointer<T>`. `f` may create objects, which are not visited, and may destroy `object`. No
  /// other launch may create or destroy objects meanwhile. O(objects + metadata), on the device.
  template <class T, class Visit>
  void parallel_do(const Visit& f) const requires object_manager<M> {
    require_region();
    device_.launch(whole_device(), detail::snapshot_lanes<M, T>{manager_});
    device_.launch(whole_device(), detail::visit_lanes<M, T, Visit>{manager_, f});
    device_.synchronize();
  }

  /// Misuse found so far, and the blocks still in use as leaks. Only with the layer `checked`.
  /// O(heap), on the device and then on the host.
  incident_report incidents() const requires reports_incidents<M> {
    require_region();
    device_.synchronize();
    return manager_.incidents(device_);
  }

 private:
  /// What the heap keeps in device memory, beside the manager's region.
  struct notes {
    failure_counts failures;
    inspection found;
    growth_outcome grown;
  };
  static constexpr std::size_t notes_bytes = round_up<std::size_t>(sizeof(notes), 256);

  heap(const device& on, device_memory&& memory, device_memory&& beside, std::size_t bytes,
       const options& settings)
      : device_(on),
        region_(std::move(memory)),
        notes_(std::move(beside)),
        bytes_(bytes),
        manager_(detail::lay_out<M>({region_.get(), bytes}, on.properties(), settings)) {
    format_by(detail::format_lanes<M>{manager_, &notes_of()->failures});
  }

  /// \param lanes bring the region into its first state
  template <class Lanes>
  void format_by(const Lanes& lanes) {
    device_.synchronize();
    device_.launch(whole_device(), lanes);
    device_.synchronize();
  }

  [[noreturn]] void refuse_growth(std::size_t bytes, growth_outcome why) const {
    const std::size_t left = manager_.largest_block() - largest_block();
    const std::string asked = "a heap cannot grow by " + std::to_string(bytes) + " bytes: ";
    if (why == growth_outcome::no_bytes) throw invalid_argument(asked + "nothing to add");
    if (why == growth_outcome::uneven) {
      throw invalid_argument(asked + "it grows by multiples of " +
                             std::to_string(manager_.growth_step()));
    }
    throw invalid_argument(asked + std::to_string(left) + " bytes of its region are left");
  }

  /// Bytes to allocate for a heap of `bytes`.
  static std::size_t held(std::size_t bytes) {
    return M::about.uses_region && bytes != 0 ? bytes : 1;
  }

  /// Bytes of the caller's memory that the manager gets.
  static std::size_t managed(const region& memory) {
    const auto start = reinterpret_cast<std::uintptr_t>(memory.base);
    const std::uintptr_t end = start + memory.bytes;
    if (memory.base == nullptr || memory.bytes < 2 * notes_bytes) {
      throw region_too_small("a heap in the caller's memory needs more than " +
                             std::to_string(2 * notes_bytes) + " bytes: it got " +
                             std::to_string(memory.bytes) + " at " + std::to_string(start));
    }
    return round_down<std::uintptr_t>(end - notes_bytes, 256) - start;
  }

  notes* notes_of() const { return reinterpret_cast<notes*>(notes_.get()); }

  void require_region() const {
    if (region_.get() == nullptr) throw invalid_argument("this heap was moved from");
  }

  /// Enough lanes to fill the device, for work that is dealt out in strides.
  simt::grid whole_device() const {
    return simt::grid::covering(device_.properties().resident_threads);
  }

  inspection inspect() const {
    require_region();
    // Not in memory of its own: CUDA's free would wait for the whole device.
    const std::lock_guard one_at_a_time(*busy_with_notes_);
    inspection* const there = &notes_of()->found;
    return detail::collect(device_, whole_device(), there,
                           detail::inspect_lanes<M>{manager_, there});
  }

  device device_;
  device_memory region_;
  device_memory notes_;
  std::unique_ptr<std::mutex> busy_with_notes_ = std::make_unique<std::mutex>();
  std::size_t bytes_;
  M manager_;
};

WARPHEAP_END_NAMESPACE
