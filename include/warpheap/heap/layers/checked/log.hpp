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
  incident_log(std::uint64_t* count, incident* entries, std::uint64_t room)
      : count_(count), entries_(entries), room_(room) {}

  WARPHEAP_DEVICE void format(std::uint64_t rank) const {
    if (rank == 0) *count_ = 0;
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
  incident* entries_ = nullptr;
  std::uint64_t room_ = 0;
};

}  // namespace checking
WARPHEAP_END_NAMESPACE
