// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The radix hash join: inner equi-join of two tables, with each match (key, value of the build
/// side, value of the probe side) once, in no particular order.

#include "bench/host/call_time.hpp"
#include "bench/workloads/join/requests.hpp"
#include "bench/workloads/tables/fields.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpheap::bench {

/// Two tables in device memory, partitioned for a join.
class hash_join {
 public:
  /// Rows of the build side that a block holds in shared memory at once. With 2048, four blocks and
  /// more fit on a multiprocessor of any GPU that warpheap runs on.
  static constexpr std::uint32_t most_chunk_rows = 2048;

  /// \throws out_of_memory with the sizes if a table does not fit
  hash_join(machine& on, const table& build, const table& probe);

  /// Partitions both tables. Returns milliseconds. O(rows)
  double partition();

  /// Joins in two passes over the probe side: the first counts the matches of each lane, the second
  /// writes them. \throws out_of_memory if the matches do not fit
  pooled_array<join_data::match> two_pass();

  std::uint64_t rows() const { return build_.rows + probe_.rows; }

 private:
  friend class paged_join;

  /// One side as the kernels see it, and its partitions.
  struct side {
    std::uint64_t rows;
    device_table given;
    device_array<std::uint32_t> mixed;
    device_table ordered;
    device_array<std::uint64_t> offsets;

    side(machine& on, const table& from, std::uint32_t partition_bits);
    double partition(machine& on, std::uint32_t partition_bits);
    join_data::join_side view() const {
      return {ordered.keys.data(), ordered.values.data(), offsets.data()};
    }
  };

  join_data::join_input input() const;
  std::uint64_t lanes() const { return blocks_ * threads_per_block; }
  template <class Request>
  double launch(launcher& where, const Request& request) const;

  static constexpr std::uint32_t threads_per_block = 256;
  /// The size of several partitions, so that most of them lie in one slice.
  static constexpr std::uint32_t most_slice_rows = 4096;

  machine& on_;
  std::uint32_t partition_bits_;
  side build_;
  side probe_;
  std::uint64_t blocks_;
};

/// The matches of a join in pages of a heap, a chain for each warp. `release` frees what is left;
/// the destructor does not, because launches can fail.
class paged_join {
 public:
  paged_join(hash_join& of, test_heap& heap, std::uint32_t page_bytes);

  /// Joins in one pass. If the heap is exhausted, the matches that found room stay, and the others
  /// are counted for each row of the probe side. \pre the pages are empty
  /// \param time where to add up the time that warps spend in malloc, in device memory; or null
  void run(call_time* time = nullptr);

  std::uint64_t size() const;
  /// Matches that found no room.
  std::uint64_t lost() const;
  /// All matches in one array, as a scan of the result would read them. O(matches)
  pooled_array<join_data::match> gather() const;
  /// The rows of the probe side with matches that found no room: key, value, number of these.
  struct lost_row {
    std::uint32_t key, value, count;
  };
  std::vector<lost_row> lost_rows() const;
  /// Frees all pages. Returns milliseconds.
  double release();

 private:
  join_data::match_chains chains() const { return {chains_.data(), warps_, page_bytes_}; }
  std::vector<std::uint64_t> sizes_before() const;

  hash_join& join_;
  test_heap& heap_;
  std::uint32_t page_bytes_;
  std::uint64_t warps_;
  device_array<std::byte> chains_;
  device_array<std::uint32_t> lost_;
};

/// A sum that is the same for the same matches in any order.
std::uint64_t digest(machine& on, const pooled_array<join_data::match>& matches);

}  // namespace warpheap::bench
