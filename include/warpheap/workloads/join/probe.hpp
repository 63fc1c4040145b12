// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file The join of two partitioned tables: a block takes a slice of the probe side, and joins it
/// partition by partition with a hash table of the build side in shared memory (after R. Rui, Y.
/// Tu, SSDBM 2017, as the random-walk paper uses it). Slices have equal sizes but partitions do
/// not, so many blocks join a partition with a frequent key. The sink decides what happens to
/// matches.

#include "warpheap/core/bits.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/workloads/join/keys.hpp"
#include "warpheap/workloads/join/requests.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace join {

/// Chained hashing of up to `rows` rows in block-shared memory, with two places per row.
class shared_table {
 public:
  static constexpr std::uint32_t none = UINT32_MAX;

  WARPHEAP_DEVICE shared_table(std::uint32_t rows, std::uint32_t partition_bits)
      : keys_(reinterpret_cast<std::uint32_t*>(simt::block_shared())),
        values_(keys_ + rows),
        nexts_(values_ + rows),
        heads_(nexts_ + rows),
        partition_bits_(partition_bits),
        place_bits_(static_cast<std::uint32_t>(floor_log2(std::uint64_t{rows})) + 1) {}

  /// Holds rows `begin` to `begin + rows - 1` of a side. All lanes of the block call it.
  WARPHEAP_DEVICE void fill(const join_data::join_side& side, std::uint64_t begin,
                            std::uint32_t rows) const {
    const std::uint32_t me = simt::thread_in_block();
    simt::block_sync();  // no lane looks for rows of the previous filling any longer
    for (std::uint32_t i = me; i < 1u << place_bits_; i += simt::block_size()) heads_[i] = none;
    simt::block_sync();
    for (std::uint32_t i = me; i < rows; i += simt::block_size()) {
      const std::uint32_t key = side.keys[begin + i];
      keys_[i] = key;
      values_[i] = side.values[begin + i];
      // Relaxed: the barrier publishes it.
      std::uint32_t& head = heads_[place_of(key, partition_bits_, place_bits_)];
      nexts_[i] = simt::block_atomic_ref<std::uint32_t>(head).exchange(i, simt::order::relaxed);
    }
    simt::block_sync();
  }

  /// The first row with the key, or none.
  WARPHEAP_DEVICE std::uint32_t find(std::uint32_t key) const {
    return from(heads_[place_of(key, partition_bits_, place_bits_)], key);
  }
  /// The next one.
  WARPHEAP_DEVICE std::uint32_t find_after(std::uint32_t row, std::uint32_t key) const {
    return from(nexts_[row], key);
  }
  WARPHEAP_DEVICE std::uint32_t value(std::uint32_t row) const { return values_[row]; }

 private:
  // Ends: every row was inserted in front of the rows that were already in its chain.
  WARPHEAP_DEVICE std::uint32_t from(std::uint32_t row, std::uint32_t key) const {
    while (row != none && keys_[row] != key) row = nexts_[row];
    return row;
  }

  std::uint32_t* keys_;
  std::uint32_t* values_;
  std::uint32_t* nexts_;
  std::uint32_t* heads_;
  std::uint32_t partition_bits_;
  std::uint32_t place_bits_;
};

/// Joins the build side of partition `p` with rows `begin` to `end - 1` of its probe side. All
/// lanes of the block call it.
template <class Sink>
WARPHEAP_DEVICE void join_partition(const join_data::join_input& in, const shared_table& built,
                                    std::uint64_t p, std::uint64_t begin, std::uint64_t end,
                                    Sink& sink) {
  if (begin == end) return;
  const std::uint64_t build_end = in.build.offsets[p + 1];
  // A partition that does not fit is joined in parts, each with all probe rows.
  for (std::uint64_t part = in.build.offsets[p]; part < build_end; part += in.chunk_rows) {
    const std::uint64_t left = build_end - part;
    built.fill(in.build, part,
               left < in.chunk_rows ? static_cast<std::uint32_t>(left) : in.chunk_rows);
    // All lanes make the same number of rounds, so that warps stay together.
    for (std::uint64_t first = begin; first < end; first += simt::block_size()) {
      const std::uint64_t row = first + simt::thread_in_block();
      const std::uint32_t key = row < end ? in.probe.keys[row] : 0;
      const std::uint32_t value = row < end ? in.probe.values[row] : 0;
      std::uint32_t found = row < end ? built.find(key) : shared_table::none;
      const simt::group together = simt::warp();
      // Ends: each round takes one row of a chain from every lane that has any.
      while (together.any(found != shared_table::none)) {
        const bool matches = found != shared_table::none;
        join_data::match match{key_of(key), 0, value};
        if (matches) match.build = built.value(found);
        sink(together, matches, row, match);
        if (matches) found = built.find_after(found, key);
      }
    }
  }
}

/// Calls `sink(warp, found, row, match)` for all pairs of rows with equal keys. All lanes of a warp
/// call the sink together, with `found` in those that have a match, and the number of its probe
/// row. The number of matches that a lane finds depends only on the input and the shape of the
/// launch. All lanes of the grid call this, in blocks with `shared_bytes_of(in.chunk_rows)` shared
/// bytes.
template <class Sink>
WARPHEAP_DEVICE void join_slices(const join_data::join_input& in, Sink& sink) {
  const shared_table built(in.chunk_rows, in.partition_bits);
  const std::uint64_t rows = in.probe.offsets[std::uint64_t{1} << in.partition_bits];
  const std::uint64_t step = simt::grid_size() / simt::block_size() * in.slice_rows;
  for (std::uint64_t begin = std::uint64_t{simt::block_rank()} * in.slice_rows; begin < rows;
       begin += step) {
    const std::uint64_t end = rows - begin < in.slice_rows ? rows : begin + in.slice_rows;
    const std::uint64_t last = partition_of(in.probe.keys[end - 1], in.partition_bits);
    for (std::uint64_t p = partition_of(in.probe.keys[begin], in.partition_bits); p <= last; ++p) {
      const std::uint64_t from = in.probe.offsets[p];
      const std::uint64_t to = in.probe.offsets[p + 1];
      join_partition(in, built, p, from < begin ? begin : from, to < end ? to : end, sink);
    }
  }
}

}  // namespace join
WARPHEAP_END_NAMESPACE
