// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Tables of blocks in the memory of a machine, and what is done with all blocks of one at once.

#include "bench/host/device_array.hpp"
#include "bench/host/machine.hpp"
#include "bench/host/parameters.hpp"
#include "bench/host/requests.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace warpheap::bench {

/// Serves the requests of a batch: their blocks' addresses, or 0. Milliseconds of the launch.
double allocate(launcher& heap, const request_batch& batch, std::uint64_t* addresses);

/// Frees the selected blocks of `count`. With a partial selection, sets their addresses to 0.
double free_blocks(launcher& heap, std::uint64_t count, std::uint64_t* addresses,
                   const selection& which = {});

/// Writes all words of the blocks; milliseconds.
double write_blocks(machine& on, const request_batch& batch, const std::uint64_t* addresses);
block_report examine_blocks(machine& on, const request_batch& batch, const std::uint64_t* addresses,
                            std::uint64_t alignment, bool contents = true);

/// `threads` threads that ask for the chosen sizes.
request_batch batch_of(const parameters& chosen, std::uint64_t threads);

/// The blocks of a batch.
class block_table {
 public:
  block_table(machine& on, const request_batch& batch);

  const request_batch& batch() const { return batch_; }
  std::uint64_t* addresses() const { return addresses_.data(); }
  std::vector<std::uint64_t> addresses_on_host() const { return addresses_.to_host(batch_.count); }

  /// `count` requests from number `begin` of the table on, as a batch, and their addresses.
  request_batch part(std::uint64_t begin, std::uint64_t count) const;
  std::uint64_t* addresses(std::uint64_t begin) const { return addresses_.data() + begin; }

  void write() const { write_blocks(on_, batch_, addresses()); }
  block_report examine(std::uint64_t alignment, bool contents = true) const {
    return examine_blocks(on_, batch_, addresses(), alignment, contents);
  }
  /// Only the first `count` requests count from now on.
  void shrink(std::uint64_t count);
  void clear() { addresses_.clear(); }

  /// How many blocks begin before the one below them ends. Exact, on the host, O(n log n).
  std::uint64_t count_overlaps() const;

 private:
  machine& on_;
  request_batch batch_;
  device_array<std::uint64_t> addresses_;
};

/// As `block_table::count_overlaps`, for any sizes.
std::uint64_t count_overlaps(const std::vector<std::uint64_t>& addresses,
                             const std::function<std::uint64_t(std::uint64_t)>& bytes_of);

}  // namespace warpheap::bench
