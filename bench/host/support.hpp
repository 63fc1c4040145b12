// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What the cases share: heaps and tables of blocks as a case's parameters describe them.

#include "bench/host/case.hpp"
#include "bench/host/device_array.hpp"
#include "bench/host/requests.hpp"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace warpheap::bench {

/// A heap of the chosen size whose pages, if the manager has pages, hold `largest` bytes. The
/// kernels of the heap are loaded, so that the first measured launch is not the one that loads
/// them. \throws not_claimed if the manager cannot serve that size
std::unique_ptr<test_heap> open_heap(const case_run& c, std::uint64_t largest);
std::unique_ptr<test_heap> open_heap(const case_run& c);

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

/// Blocks that fill a heap up, and what filling it took.
struct heap_fill {
  block_table blocks;
  std::uint64_t nulls = 0;
  double ms = 0;
  std::uint64_t launches = 0;
};

/// Launches batches of `threads` threads of the chosen sizes until one of them gets a null, or so
/// many blocks are there that a heap of this size cannot hold more.
heap_fill fill_heap(const case_run& c, test_heap& heap, std::uint64_t threads);

/// Occupies the heap so that `free_percent` of it, in random places, is free: fills it and
/// frees a random share of the blocks. Null with 100 %.
std::unique_ptr<heap_fill> occupy(const case_run& c, test_heap& heap);

/// Adds `free_ms`: what was measured if the manager frees single blocks, else null and the reason.
void add_free(measurement& row, const manager_info& manager, const std::vector<double>& ms);

/// The longest of several series of launches, in milliseconds.
double longest_of(std::initializer_list<std::vector<double>> series);

/// Adds up what went wrong over all runs of a case.
class tally {
 public:
  void add(const block_report& report) {
    nulls_ += report.nulls;
    corrupted_ += report.corrupted + report.misaligned;
  }
  void add_nulls(std::uint64_t count) { nulls_ += count; }
  void add_corrupted(std::uint64_t count) { corrupted_ += count; }

  /// For what no manager is to blame for.
  /// \throws error with the name of what failed if anything was wrong
  void expect_none(const std::string& what) const {
    if (nulls_ + corrupted_ == 0) return;
    throw error(what + ": " + std::to_string(nulls_) + " requests were not served and " +
                std::to_string(corrupted_) + " pieces had wrong contents");
  }

  void put_into(measurement& row) const {
    row.add(fields::null_returns, nulls_);
    row.add(fields::corrupted, corrupted_);
  }

 private:
  std::uint64_t nulls_ = 0;
  std::uint64_t corrupted_ = 0;
};

/// The launches of a batch that is served and freed again and again, in milliseconds.
struct batch_times {
  std::vector<double> malloc_ms;
  std::vector<double> free_ms;
};

/// Serves and frees all of `blocks` in turn, once and `iterations` times more. In between the
/// blocks are written and read back; those of the first and last run are also searched for
/// overlaps, unless the host would sort for longer than it measures. A heap that frees nothing is
/// reset each time.
batch_times serve_and_free(const case_run& c, test_heap& heap, const block_table& blocks,
                           tally& wrong);

}  // namespace warpheap::bench
