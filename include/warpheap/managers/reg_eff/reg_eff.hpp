// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// Reg-Eff: M. Vinkler, V. Havran, "Register Efficient Memory Allocator for GPUs", High-Performance
/// Graphics 2014, 10.2312/hpg.20141090; extended in "Register Efficient Dynamic Memory Allocator
/// for GPUs", Computer Graphics Forum 34(8), 2015, 10.1111/cgf.12666. All six variants:
/// AtomicMalloc (A), AtomicWrapMalloc (AW), CircularMalloc (C), and its fused (CF), multi (CM) and
/// fused multi (CFM) forms are parameters of one implementation.
///
/// Algorithm of C: memory is a circular list of chunks, each with a header in front of its block,
/// and split in advance into trees of chunks of all sizes (presplit.hpp). malloc starts at the
/// memory offset and claims the first free chunk that is large enough; if much would be left over,
/// the rest becomes a separate chunk. The offset moves to the next chunk. free merges its chunk
/// with the next one, if it can claim that, and moves the offset behind it. CF fuses the two words
/// of a header. CM and CFM have an offset and a tree for each multiprocessor. A adds to a counter,
/// without frees; AW restarts it from the front when it has reached the end, and so hands out
/// blocks that are in use: both show what the list costs.
///
/// Layout:
///
///     list:    [ offsets ][ operations ][ proof ][ search ][ free: tree ][ starts: bits ]
///              [ h | chunk 0 ... ]
///     chunk:   [ block ... | header of the next chunk ]     multiples of 16 B
///     header:  { flag: u32 | next: u32 }, CF and CFM: { flag: 1 bit | next: 31 bits }
///     counter: [ counter ][ blocks ... ]
///
/// Invariants, while no lane allocates (place):
/// I1 list: a chunk's header names the next start, the terminator's the first (chunk);
///    A, AW: the counter has not run on beyond what lanes add once (counter);
/// I2 the header's flag is set exactly if the chunk is not free; the terminator's is (chunk);
/// I3 every free chunk is a start (first granule of 64);
/// I4 the words of the tree fit (word);
/// I5 offsets lie in the heap (offset);
/// I6 no operation is in progress (how many are);
/// I7 nothing of a size is free that is said to be out (granules).
///
/// Steady load: searches of the list take a step for each of its chunks, and those of lanes that
/// want long runs take several rounds. With powers of two from 16 to 4096 B a launch took 2.03 s
/// (C), 2.11 s (CF), 2.10 s (CM) or 2.40 s (CFM); with 64 B alone an eighth of that. The emptied
/// heap holds 97 % of the blocks of 112 B that it held when it was new: chunks stay in pieces that
/// merge only as far as a request needs, and one that is not twice as large as needed is not split.
///
/// Progress: lock-free. A lane that owns a chunk never waits, and gives up a merge that is not
/// possible at once. A search visits at most 64 free chunks; then lanes share a search of all of
/// them (sync/shared_search.hpp), in two rounds; in up to 16 while others still find as much
/// together as the lane needs, and in up to 1,024 if few chunks are free.
///
/// Null: there was a time during the call at which no run of free chunks was large enough, or
/// others took or freed chunks in each of its rounds. Without pre-splitting, which all of the
/// paper's six managers use, a lane that wants a part of the only large chunk may return null
/// early: if others have taken chunks in each of 1,024 rounds. The next requests for that much fail
/// at once, even of a lane alone, until a chunk is freed. A: the counter had less left. AW never
/// returns null for what it can serve.
///
/// Deviations from the paper, and why:
/// - chunks are claimed in a map outside the heap. In the published code a claim writes the header,
///   and an offset or a lane may still name a header that a merge has made part of a block;
/// - a search that meets many chunks that are too small continues together with others;
/// - what is left of a chunk with room for many requests becomes two: where lanes want parts of a
///   few large chunks, they would take them one by one;
/// - searches go along that map, from free chunk to free chunk, and learn a chunk's size from the
///   starts: only its owner may read a header;
/// - a search merges free chunks if that makes one large enough: after a free, chunks merge only
///   with the next one and once, so an emptied heap would stay in pieces;
/// - a lane that loses a race for a chunk skips a random distance: otherwise all lanes would walk
///   along the list in step, and lose a race for every chunk that another lane takes;
/// - a request that finds nothing returns null; the published search never ends;
/// - positions count granules of 16 bytes, and headers lie before them: heaps of up to 2^31 - 1 of
///   them, 16 bytes less than 32 GiB, and aligned blocks;
/// - the smallest chunks of an empty heap have 128 bytes, not 16;
/// - offsets that name an absorbed chunk are left alone: a search may start anywhere;
/// - the lanes of a warp do not share a header: nothing can be freed alone then;
/// - A and AW count in 64 bits, so that a counter never wraps; A looks at it before it adds. A
///   request of AW that meets a counter which others have wrapped starts again.

#include "warpheap/heap/capabilities.hpp"
#include "warpheap/managers/reg_eff/config.hpp"
#include "warpheap/managers/reg_eff/counter_heap.hpp"
#include "warpheap/managers/reg_eff/list_heap.hpp"
#include "warpheap/managers/reg_eff/publication.hpp"

#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

using reg_eff_parts::book_keeping;
using reg_eff_parts::memory_offsets;
using reg_eff_parts::reg_eff_config;

namespace reg_eff_parts {

template <reg_eff_config Config, bool HasList>
struct heap_of {
  using type = list_heap<Config>;
};
template <reg_eff_config Config>
struct heap_of<Config, false> {
  using type = counter_heap<Config>;
};

}  // namespace reg_eff_parts

template <reg_eff_config Config = reg_eff_config{}>
class reg_eff : public reg_eff_parts::heap_of<Config, Config.has_list()>::type {
  using base = typename reg_eff_parts::heap_of<Config, Config.has_list()>::type;
  static_assert(Config.is_valid(),
                "reg_eff_config: header_words is 1 or 2, max_fragmentation_percent at least 100, "
                "granule_bytes a power of two, at least 16, and presplit_bytes a multiple of it, "
                "at most 1 MiB");

 public:
  using base::base;

  static constexpr capabilities about{
      .name = Config.name(),
      .description = Config.description(),
      .folder = "reg_eff",
      .published = reg_eff_parts::published,
      .deviations =
          Config.has_list()
              ? decltype(capabilities::deviations){
                    "Chunks are claimed in a map outside the heap, which searches follow.",
                    "A search merges free chunks if that makes one large enough.",
                    "A lane that loses a race for a chunk goes on at random ahead.",
                    "A request that finds nothing returns null; the published search never ends.",
                    "Positions count granules of 16 bytes: heaps of less than 32 GiB, aligned blocks.",
                    "The smallest chunks of an empty heap have 128 bytes, not 16.",
                    "The lanes of a warp do not share a header.",
                }
              : decltype(capabilities::deviations){
                    "Blocks are aligned to 16 bytes, and the counter has 64 bits.",
                    Config.keeps == book_keeping::counter
                        ? "A request looks at the counter before it adds, so failed ones add nothing."
                        : "A request that meets a counter which others have wrapped starts again.",
                },
      .alignment = Config.granule_bytes,
      .frees = Config.has_list(),
      .reuse = Config.has_list()                            ? memory_reuse::all
               : Config.keeps == book_keeping::counter ? memory_reuse::none
                                                            : memory_reuse::unchecked,
  };
};

WARPHEAP_END_NAMESPACE
