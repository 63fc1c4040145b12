// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/heap/incident.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace checking {

/// Incidents in device memory, as far as there is room; further ones are counted.
class incident_log {
 public:
  incident_log() = default;
  incident_log(std::uint64_t* head, incident* entries, std::uint64_t room)
      : count_(head), lock_(head + 1), entries_(entries), room_(room) {}

  /// What the first argument of the constructor points to.
  static constexpr std::size_t words = 2;

  WARPHEAP_DEVICE void format(std::uint64_t rank) const {
    if (rank == 0) *count_ = *lock_ = 0;
  }

  /// Makes the calling lane the only one that reports damage, until `end_report`. False, and
  /// counted, if there is no room left for what it would report.
  WARPHEAP_DEVICE bool begin_report() const {
    const simt::atomic_ref lock(*lock_);
    const simt::atomic_ref count(*count_);
    // Ends: the lane that reports waits for nothing, whatever lanes it is converged with.
    for (;;) {
      if (count.load(simt::order::relaxed) >= room_) {
        count.fetch_add(1, simt::order::relaxed);
        return false;
      }
      // Acquire pairs with the release in `end_report`: flags of what was reported are seen.
      if (lock.exchange(1, simt::order::acquire) == 0) return true;
      simt::backoff(200);
    }
  }
  WARPHEAP_DEVICE void end_report() const {
    simt::atomic_ref(*lock_).store(0, simt::order::release);
  }

  WARPHEAP_DEVICE void add(const incident& what) const {
    // Relaxed: the host reads when the device is idle.
    const std::uint64_t place = simt::atomic_ref(*count_).fetch_add(1, simt::order::relaxed);
    if (place < room_) entries_[place] = what;
  }

  /// For the host, when the device is idle.
  void read(const device& on, incident_report& into) const {
    std::uint64_t count = 0;
    on.copy_to_host(&count, count_, sizeof count);
    const std::uint64_t recorded = count < room_ ? count : room_;
    into.incidents.resize(recorded);
    if (recorded != 0) {
      on.copy_to_host(into.incidents.data(), entries_, recorded * sizeof(incident));
    }
    into.unrecorded = count - recorded;
  }

 private:
  std::uint64_t* count_ = nullptr;
  std::uint64_t* lock_ = nullptr;
  incident* entries_ = nullptr;
  std::uint64_t room_ = 0;
};

}  // namespace checking
WARPHEAP_END_NAMESPACE
