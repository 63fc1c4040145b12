// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/lanes/draw.hpp"
#include "bench/lanes/kernel.hpp"
#include "bench/workloads/work_generation/requests.hpp"
#include "warpheap/core/align.hpp"
#include "warpheap/sync/group_sum.hpp"

WARPHEAP_BEGIN_NAMESPACE
namespace lanes::work_generation {

struct count_work {
  bench::work_counting in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i >= in.batch.count) return;
    in.bytes[i] = round_up<std::uint64_t>(requested_bytes(in.batch, i), bench::piece_alignment);
  }
};

struct place_work {
  bench::work_placing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.count) in.addresses[i] = in.base + in.offsets[i];
  }
};

WARPHEAP_DEVICE inline std::uint32_t* word_of(const bench::word_table& table, std::uint64_t i) {
  return reinterpret_cast<std::uint32_t*>(table.addresses[table.owners[i]]) + table.positions[i];
}

/// What lane `i` writes: cheap, so that memory is what is timed.
WARPHEAP_HD constexpr std::uint32_t word_at(std::uint64_t i, std::uint32_t salt) {
  return static_cast<std::uint32_t>(i) * 2654435761u + salt;
}

struct write_words {
  bench::word_writing in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    if (i < in.table.words) *word_of(in.table, i) = word_at(i, in.salt);
  }
};

struct read_words {
  bench::word_reading in;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t i = simt::thread_rank();
    const bool mine = i < in.table.words;
    const std::uint32_t word = mine ? *word_of(in.table, i) : 0;
    const std::uint64_t wrong = mine && word != word_at(i, in.salt) ? 1 : 0;
    sync::add_up(simt::warp(), in.sum, std::uint64_t{word});
    sync::add_up(simt::warp(), in.wrong, wrong);
  }
};

using kernels = type_list<count_work, place_work, write_words, read_words>;

}  // namespace lanes::work_generation
WARPHEAP_END_NAMESPACE
