// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// RW_malloc: random walks to runs of consecutive units, for blocks of any size up to a word of
/// units.
///
/// M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng: "Dynamic Buffer Management in Massively
/// Parallel Systems: The Power of Randomness", ACM Transactions on Parallel Computing 12(1), 2025,
/// DOI 10.1145/3701623, section 4.3.
///
/// Algorithm: one bit per unit, 1 = in use. The lanes that call together draw one random place and
/// read consecutive words there, each lane its own and the next one, so that runs may cross words.
/// First, every lane tries to serve itself from what it sees; then the remaining lanes are served
/// from what the others see. A run is claimed word by word; the first word's bits are given back if
/// the second word's are lost. Requests below half a unit are bundled: one run for all such lanes
/// of the group, with a count of live pieces at its front.
///
/// Layout:
///
///     [ search ][ used ][ last ][ crossing ][ bundled ][ units ... ]
///     bitmaps of 1 bit per unit, and of 1 bit per word: crossing
///     last:     the final unit of a run that is in use: how free finds the run's length
///     crossing: a run that lies in this word of `used` and the next is being claimed
///     bundled:  the first unit of a run that holds a bundle
///     bundle:   [ piece ][ piece ] ...      multiples of 32 B
///     piece:    [ bytes back to the bundle: u32 | live pieces: u32, first piece only | 8 B ]
///               [ the caller's bytes ... ]
///
/// A piece's bytes never start where a unit starts: thus free can tell the two apart.
///
/// Invariants: I1 the bits beyond the last unit are set in `used`; I2 every bit of `last` is of a
/// unit that is in use; I3 a unit in use that is followed by a free one, or by the end, is a last
/// one; I4 every bit of `bundled` is of a run's first unit (place: the word).
///
/// Steady load (`rw_malloc`): where free units are scattered, only a full search finds a run. A
/// group searches with all of its lanes, looks where a search has left the longest run, and gives
/// up after four searches that have left nothing for it, whatever others have freed meanwhile.
///
/// Progress: lock-free except for runs that cross words: lanes that claim one across the same
/// boundary take turns, and a full search waits for such a claim, because it may fail and give back
/// what it has hidden. The awaited lane never waits. The full search at the end, which groups
/// share, is bounded (`search_rounds`).
///
/// Deviations: runs across words, rollback and the length of a block are not in the printed
/// algorithm. Pieces of a bundle keep the whole bundle: it is freed with its last piece. The paper
/// ends by a statistical rule, which says nothing about runs; that is the option
/// `exhaustion_rule::statistical`. The default ends with a full search.

#include "warpheap/core/align.hpp"
#include "warpheap/heap/fit_units.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/random_walk/exhaustion_rule.hpp"
#include "warpheap/managers/random_walk/inspection.hpp"
#include "warpheap/managers/random_walk/publication.hpp"
#include "warpheap/managers/random_walk/unit_map.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/group_sum.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

WARPHEAP_BEGIN_NAMESPACE

struct rw_malloc_config {
  /// Bytes of a unit: a power of two, at least 64.
  std::size_t unit_bytes = 256;
  /// Bits of a word of the bitmaps, and units of the largest block: 32 or 64.
  int word_bits = 32;
  random_walk::exhaustion_rule exhaustion = random_walk::exhaustion_rule::exact;
  /// The number of places that are drawn at random before all are searched in turn, by the exact
  /// rule.
  std::uint32_t draws = 32;
  /// By the exact rule: a request gives up after so many searches of all places that have left
  /// nothing for it, even if others have freed something during each of them. At least 2. After
  /// four times as many, it gives up if others have taken each time what was left for it.
  int futile_rounds = 4;
  /// Share of free units, in a million, below which the statistical rule gives up.
  std::uint32_t low_water_ppm = 5000;
};

template <rw_malloc_config Config = rw_malloc_config{}>
class rw_malloc {
 public:
  using options = no_options;

  static_assert(Config.word_bits == 32 || Config.word_bits == 64,
                "rw_malloc_config::word_bits must be 32 or 64");
  static_assert(is_power_of_two(Config.unit_bytes) && Config.unit_bytes >= 64,
                "rw_malloc_config::unit_bytes must be a power of two, at least 64");
  static_assert(Config.low_water_ppm > 0 && Config.low_water_ppm < 1'000'000,
                "rw_malloc_config::low_water_ppm must lie between 0 and 1,000,000");

  static constexpr capabilities about{
      .name = "rw_malloc",
      .description = "random walks over runs of units, for blocks of up to 32 units",
      .folder = "random_walk",
      .published = random_walk::published,
      .deviations = {"Runs may cross words, and what a failed claim took is given back.",
                     "A bitmap of last units tells free how long a block is.",
                     "A bundle of small blocks is freed with its last piece.",
                     "By default a walk ends with a search of all units; the paper's statistical "
                     "rule is an option."},
      .largest_block = Config.unit_bytes * Config.word_bits,
  };

  rw_malloc(const region& memory, const simt::device_properties& /*machine*/,
            const options& /*none*/) {
    const std::size_t most = memory.bytes / unit;
    if (most > units_map::most_units) {
      throw invalid_argument(std::string(about.name) + ": a heap of " +
                             std::to_string(memory.bytes) + " bytes; at most " +
                             std::to_string(std::size_t{units_map::most_units} * unit) +
                             " are possible");
    }
    lay_out_most(memory, about.name, 1u, most < 1 ? 1u : static_cast<std::uint32_t>(most),
                 [this](region_cursor& cursor, std::uint32_t units) {
                   units_ = units_map(cursor, units);
                   bundled_ = cursor.take<word>(units_.words());
                   base_ = cursor.take<std::byte>(std::size_t{units} * unit, unit);
                 });
  }

  WARPHEAP_HD std::size_t largest_block() const {
    const std::size_t all = std::size_t{units_.units()} * unit;
    return all < about.largest_block ? all : about.largest_block;
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    units_.format(rank, count);
    for (std::uint64_t i = rank; i < units_.words(); i += count) bundled_[i] = 0;
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    WARPHEAP_ASSERT(bytes != 0 && bytes <= largest_block());
    const simt::group team = simt::coalesced(base_);
    const simt::lane_mask small = team.ballot(bytes < unit / 2);
    if (small.count() < 2) return alone(units_.take_runs(team, units_of(bytes)));
    return bundle(team, small, bytes);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    WARPHEAP_ASSERT(block != nullptr);
    const auto offset =
        reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(base_);
    if (offset >= std::size_t{units_.units()} * unit) return;  // not of this heap
    auto* bytes = static_cast<std::byte*>(block);
    if (offset % unit == 0) {
      units_.give_run(unit_at(bytes));
      return;
    }
    const auto* of_piece = reinterpret_cast<piece_header*>(bytes - header);
    std::byte* front = bytes - header - of_piece->back;
    auto& live = reinterpret_cast<piece_header*>(front)->live;
    // Acquire and release: the last one to leave gives the run back after all others' accesses.
    if (simt::atomic_ref(live).fetch_sub(1, simt::order::acq_rel) == 1) {
      const std::uint32_t first = unit_at(front);
      // Relaxed: ordered before the next owner by the run's release in `give_run`.
      const auto mark = bundle_mark(first);
      mark.bits.fetch_and(static_cast<word>(~mark.bit), simt::order::relaxed);
      units_.give_run(first);
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    const random_walk::unit_inspector units(units_);
    for (std::uint64_t i = rank; i < units_.words(); i += count) {
      const auto state = units.inspect(i, findings);
      findings.expect((bundled_[i] & ~state.starts) == 0, 4, i);
      auto blocks =
          static_cast<std::uint64_t>(popcount(static_cast<word>(state.starts & ~bundled_[i])));
      // Only those of I4's words that are valid: there may be no memory for the others.
      for (word rest = bundled_[i] & state.starts; rest != 0; rest &= static_cast<word>(rest - 1)) {
        const auto front = static_cast<std::uint32_t>(i * Config.word_bits) +
                           static_cast<std::uint32_t>(lowest_bit(rest));
        blocks += reinterpret_cast<const piece_header*>(address(front))->live;
      }
      findings.in_use(blocks, static_cast<std::uint64_t>(popcount(state.used)) * unit);
    }
  }

 private:
  static constexpr bool exact = Config.exhaustion == random_walk::exhaustion_rule::exact;
  static constexpr std::uint32_t draws =
      exact ? Config.draws
            : ceil_div(random_walk::probes_until_exhausted(Config.exhaustion, Config.low_water_ppm),
                       static_cast<std::uint32_t>(Config.word_bits));
  using units_map = random_walk::unit_map<Config.word_bits, draws, exact, Config.futile_rounds>;
  using word = typename units_map::word;
  static constexpr std::size_t unit = Config.unit_bytes;
  static constexpr std::uint32_t none = random_walk::no_run;

  struct alignas(16) piece_header {
    std::uint32_t back;
    std::uint32_t live;
  };
  static constexpr std::size_t header = sizeof(piece_header);

  WARPHEAP_DEVICE std::byte* address(std::uint32_t first) const {
    return base_ + std::size_t{first} * unit;
  }
  WARPHEAP_DEVICE void* alone(std::uint32_t first) const {
    return first == none ? nullptr : address(first);
  }
  WARPHEAP_DEVICE std::uint32_t unit_at(const std::byte* block) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(block - base_) / unit);
  }
  WARPHEAP_DEVICE static int units_of(std::size_t bytes) {
    return static_cast<int>(align_up(bytes, unit) / unit);
  }
  /// The word and the bit of `bundled_` for a run that starts at `first`.
  WARPHEAP_DEVICE auto bundle_mark(std::uint32_t first) const {
    struct mark {
      simt::atomic_ref<word> bits;
      word bit;
    };
    return mark{simt::atomic_ref<word>(bundled_[first / Config.word_bits]),
                static_cast<word>(word{1} << first % Config.word_bits)};
  }

  /// One run for all of the group's `small` requests, and a run of its own for every other.
  WARPHEAP_DEVICE void* bundle(const simt::group& team, simt::lane_mask small,
                               std::size_t bytes) const {
    const bool bundled = small.contains(simt::lane_id());
    const auto piece =
        static_cast<std::uint32_t>(bundled ? round_up<std::size_t>(header + bytes, 2 * header) : 0);
    const auto pieces = sync::sum_over(team, piece);
    const bool asks = !bundled || simt::lane_id() == small.lowest();
    const int want = !asks ? 0 : units_of(bundled ? pieces.total : bytes);
    std::uint32_t own = units_.walk(team, want);
    const std::uint32_t shared = team.shuffle(own, small.lowest());
    // No room for all of them together; perhaps for some of them alone.
    const bool apart = bundled && shared == none;
    if (shared == none) own = units_.walk(team, apart ? 1 : 0, own);
    own = units_.search(team, apart ? 1 : bundled ? 0 : want, own);
    if (!bundled || apart) return alone(own);
    std::byte* start = address(shared) + pieces.before;
    auto* mine = reinterpret_cast<piece_header*>(start);
    mine->back = pieces.before;
    if (asks) {
      mine->live = static_cast<std::uint32_t>(small.count());
      // Relaxed: read while no lane allocates, and by lanes that free a piece that came from here.
      const auto mark = bundle_mark(shared);
      mark.bits.fetch_or(mark.bit, simt::order::relaxed);
    }
    // The count must stand before any piece can be freed: all members pass here first.
    simt::group(small).sync();
    return start + header;
  }

  units_map units_;
  word* bundled_;
  std::byte* base_;
};

WARPHEAP_END_NAMESPACE
