// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "warpheap/core/align.hpp"

namespace warpheap::host {

/// A region's share of the addresses of the process: how many it may reserve in order to grow in
/// place, so that there are some for many regions, and many for a few.
///
/// A process has 2^47 addresses, or fewer where `ulimit -v` says so. Region number n, counting
/// those that are held when it comes, may reserve a 16 n-th of them: 8 TiB for the first, 512 GiB
/// for the sixteenth, 8 GiB for the thousandth. Of all regions that are held, the i-th oldest found
/// at least i - 1 others, so that together n of them have at most (1 + 1/2 + ... + 1/n) / 16 of
/// all: 47 % for a thousand, 76 % for a hundred thousand. The rest is for programs, and for regions
/// whose request alone is larger than their share.
class address_share {
 public:
  address_share() : number_(held.fetch_add(1, std::memory_order_relaxed) + 1) {}
  ~address_share() { held.fetch_sub(1, std::memory_order_relaxed); }
  address_share(const address_share&) = delete;
  address_share& operator=(const address_share&) = delete;

  /// Reserves addresses by `take(bytes)`, which may refuse: then half as many, and so on. At most
  /// `most`, and at least `least`, which may be more than the share. Both are multiples of `page`.
  /// Returns how many it reserved; 0: not even `least`.
  template <class Take>
  std::size_t reserve(std::size_t least, std::size_t most, std::size_t page, Take&& take) const {
    const std::size_t share = round_down(addresses_of_process() / 16 / number_, page);
    std::size_t bytes = std::clamp(share, least, most);
    // Each round tries fewer, until it is `least`.
    while (!take(bytes)) {
      if (bytes == least) return 0;
      bytes = std::max(least, round_down(bytes / 2, page));
    }
    return bytes;
  }

 private:
  static std::size_t addresses_of_process() {
    constexpr std::size_t all = std::size_t{1} << 47;
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return all;
    return std::min(all, static_cast<std::size_t>(limit.rlim_cur));
  }

  // A count alone, which orders nothing.
  static inline std::atomic<std::size_t> held{0};
  std::size_t number_;
};

}  // namespace warpheap::host
