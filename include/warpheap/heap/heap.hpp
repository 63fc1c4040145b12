// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/incident.hpp"
#include "warpheap/heap/lay_out.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/device_memory.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE

/// What the handle of a heap counts in device memory: only failures, so that a call that succeeds
/// costs nothing more than the manager's own work.
struct failure_count {
  std::uint64_t failures = 0;
  std::uint64_t last_failed_bytes = 0;
};

/// What kernels get: copy it by value. `M` is the manager behind it.
template <device_manager M>
class handle {
 public:
  handle(const M& manager, failure_count* failures) : manager_(manager), failures_(failures) {}

  /// A block of at least `bytes` bytes, aligned to 16 or better; null if `bytes` is 0 or memory is
  /// out. Any lane may call it, with any others or alone.
  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    void* block = manager_.malloc(bytes);
    if (block == nullptr && bytes != 0) note_failure(bytes);
    return block;
  }

  /// Gives a block back. Any lane of this or a later launch may do so, once. Null is ignored.
  WARPHEAP_DEVICE void free(void* block) const {
    if (block != nullptr) manager_.free(block);
  }

  /// The manager itself, for what only it offers.
  WARPHEAP_HD const M& manager() const { return manager_; }

 private:
  WARPHEAP_DEVICE void note_failure(std::size_t bytes) const {
    // One atomic for all lanes that fail together: a million of them must not queue up here.
    const simt::group together = simt::coalesced();
    if (!together.is_leader()) return;
    simt::atomic_ref(failures_->failures)
        .fetch_add(static_cast<std::uint64_t>(together.size()), simt::order::relaxed);
    simt::atomic_ref(failures_->last_failed_bytes).store(bytes, simt::order::relaxed);
  }

  M manager_;
  failure_count* failures_;
};

/// The state of a heap as the host sees it.
struct heap_stats {
  /// Size of the region, metadata included.
  std::uint64_t heap_bytes = 0;
  std::uint64_t blocks_in_use = 0;
  /// Bytes that those blocks occupy.
  std::uint64_t bytes_in_use = 0;
  /// Bytes that were asked for, for the blocks in use. Like the next four, known with the layer
  /// `counted` only.
  std::optional<std::uint64_t> asked_bytes;
  std::optional<std::uint64_t> peak_blocks;
  std::optional<std::uint64_t> peak_bytes;
  std::optional<std::uint64_t> mallocs;
  std::optional<std::uint64_t> frees;
  /// Requests that were answered with null since the heap was made or reset.
  std::uint64_t failures = 0;
  /// Bytes that one of the latest of them asked for.
  std::uint64_t last_failed_bytes = 0;
};

/// Which of a manager's numbered invariants do not hold.
struct validation {
  struct violation {
    int invariant;
    std::uint64_t times;
    /// Where, for one of them; the manager's header says what the number means.
    std::uint64_t place;
  };
  std::vector<violation> violations;

  bool ok() const { return violations.empty(); }
  /// One line for each violation.
  std::string describe() const {
    std::string text;
    for (const auto& v : violations) {
      text += "invariant I" + std::to_string(v.invariant) + " does not hold, " +
              std::to_string(v.times) + " times, for example at " + std::to_string(v.place) + "\n";
    }
    return text;
  }
};

namespace detail {

// Functors of kernels cannot be private members: nvcc refuses those.
template <device_manager M>
struct format_lanes {
  M manager;
  WARPHEAP_DEVICE void operator()() const {
    manager.format(simt::thread_rank(), simt::grid_size());
  }
};

template <device_manager M>
struct inspect_lanes {
  M manager;
  inspection* findings;
  WARPHEAP_DEVICE void operator()() const {
    manager.inspect(simt::thread_rank(), simt::grid_size(), *findings);
  }
};

}  // namespace detail

/// Owns a region of device memory and the manager in it.
///
///     warpheap::heap<warpheap::rw_malloc<>> heap{warpheap::device::cuda(0), 256_MiB};
///     kernel<<<grid, block>>>(heap.ref(), out);
///
/// Not to be destroyed, reset or inspected while lanes still use it: those members wait for the
/// device first. A heap that was moved from has no region, and its members throw invalid_argument.
template <device_manager M>
class heap {
 public:
  using manager_type = M;
  using ref_type = handle<M>;
  using options = typename M::options;

  /// \param bytes size of the region, with everything that the manager keeps in it
  /// \throws out_of_memory if the device has less, invalid_argument if the manager needs more
  heap(const device& on, std::size_t bytes, const options& settings = {})
      : device_(on),
        region_(on, M::about.uses_region && bytes != 0 ? bytes : 1),
        failures_(on, sizeof(failure_count)),
        bytes_(bytes),
        manager_(detail::lay_out<M>({region_.get(), bytes}, on.properties(), settings)) {
    reset();
  }

  heap(heap&&) = default;
  heap& operator=(heap&&) = delete;

  ~heap() {
    if constexpr (reports_incidents<M>) {
      if (region_.get() == nullptr) return;  // moved from
      try {
        for (const incident& found : incidents()) {
          std::fprintf(stderr, "warpheap: %s\n", found.describe().c_str());
        }
      } catch (const error& broken) {
        std::fprintf(stderr, "warpheap: the heap cannot be checked: %s\n", broken.what());
      }
    }
  }

  /// What a kernel takes, by value. Valid as long as the heap is.
  ref_type ref() const {
    require_region();
    return ref_type(manager_, reinterpret_cast<failure_count*>(failures_.get()));
  }

  const device& on() const { return device_; }
  std::size_t bytes() const { return bytes_; }

  /// Everything is free again, at once. All blocks become invalid. O(metadata).
  void reset() {
    require_region();
    device_.synchronize();
    const failure_count none;
    device_.copy_to_device(failures_.get(), &none, sizeof none);
    device_.launch(whole_device(), detail::format_lanes<M>{manager_});
    device_.synchronize();
  }

  /// Blocks in use, and what failed. O(metadata), on the device.
  heap_stats stats() const {
    const inspection found = inspect();
    failure_count failed;
    device_.copy_to_host(&failed, failures_.get(), sizeof failed);
    heap_stats result;
    result.heap_bytes = bytes_;
    result.blocks_in_use = found.blocks_in_use;
    result.bytes_in_use = found.bytes_in_use;
    if (found.counted != 0) {
      result.asked_bytes = found.asked_bytes;
      result.peak_blocks = found.peak_blocks;
      result.peak_bytes = found.peak_bytes;
      result.mallocs = found.mallocs;
      result.frees = found.frees;
    }
    result.failures = failed.failures;
    result.last_failed_bytes = failed.last_failed_bytes;
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

  /// Wrong uses so far, and the blocks that are still in use as leaks.
  std::vector<incident> incidents() const requires reports_incidents<M> {
    require_region();
    device_.synchronize();
    return manager_.incidents(device_);
  }

 private:
  void require_region() const {
    if (region_.get() == nullptr) throw invalid_argument("this heap was moved to another one");
  }

  /// Enough lanes to fill the device, for work that is dealt out in strides.
  simt::grid whole_device() const {
    return simt::grid::covering(device_.properties().resident_threads);
  }

  inspection inspect() const {
    require_region();
    device_.synchronize();
    const device_memory memory(device_, sizeof(inspection));
    inspection found;
    device_.copy_to_device(memory.get(), &found, sizeof found);
    device_.launch(whole_device(),
                   detail::inspect_lanes<M>{manager_, reinterpret_cast<inspection*>(memory.get())});
    device_.synchronize();
    device_.copy_to_host(&found, memory.get(), sizeof found);
    return found;
  }

  device device_;
  device_memory region_;
  device_memory failures_;
  std::size_t bytes_;
  M manager_;
};

WARPHEAP_END_NAMESPACE
