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
/// Algorithm: a bit a unit, 1 = in use. The lanes that call together draw one random place and read
/// consecutive words there, each lane its own and the next, so that runs may cross words. First
/// every lane tries to serve itself from what it sees, then the lanes that are left are served from
/// what the others see. A run is claimed word by word; the first word's bits are given back if the
/// second word's are lost. Requests below half a unit are bundled: one run for all such lanes
/// of the group, with a count of live pieces at its front.
///
/// Layout: [ exhaustion ][ used ][ last ][ bundled ][ units ... ], the three bitmaps of 1 bit a
/// unit
///   last:    the final unit of a run that is in use, which is how free finds the run's length
///   bundled: the first unit of a run that holds a bundle
///   bundle:  [ piece ][ piece ] ..., each a multiple of 32 B, so that the caller's bytes of a
///   piece
///            never start where a unit starts: that tells free which of the two it has
///   piece:   [ bytes back to the bundle u32, live pieces u32 (first piece only), 8 B unused ]
///            [ the caller's bytes ... ]
///
/// Invariants: I1 the bits beyond the last unit are set in `used`; I2 every bit of `last` is of a
/// unit that is in use; I3 a unit in use that is followed by a free one, or by the end, is a last
/// one; I4 every bit of `bundled` is of a run's first unit (place: the word).
///
/// Progress: lock-free. Claims never wait: a run that another lane holds in part for a moment is
/// passed over. The full search at the end visits every word once in each of a bounded number of
/// passes.
///
/// Deviations: runs across words, rollback and the length of a block are not in the printed
/// algorithm. Pieces of a bundle keep the whole bundle: it is freed with its last piece. The end by
/// a full search replaces the statistical rule, which says nothing about runs.

#include "warpheap/core/align.hpp"
#include "warpheap/core/random.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/simt/simt.hpp"
#include "warpheap/sync/exhaustion.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE

struct rw_malloc_config {
  /// Bytes of a unit: a power of two, 64 at least.
  std::size_t unit_bytes = 256;
  /// Bits of a word of the bitmaps, and units of the largest block: 32 or 64.
  int word_bits = 32;
  /// Places that are drawn at random before all are searched in turn.
  std::uint32_t draws = 32;
};

template <rw_malloc_config Config = rw_malloc_config{}>
class rw_malloc {
 public:
  using options = no_options;

  static_assert(Config.word_bits == 32 || Config.word_bits == 64,
                "rw_malloc_config::word_bits must be 32 or 64");
  static_assert(is_power_of_two(Config.unit_bytes) && Config.unit_bytes >= 64,
                "rw_malloc_config::unit_bytes must be a power of two, 64 at least");

  static constexpr capabilities about{
      .name = "rw_malloc",
      .authors = "M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng",
      .title = "Dynamic Buffer Management in Massively Parallel Systems: The Power of Randomness",
      .venue = "ACM TOPC 12(1)",
      .year = 2025,
      .doi = "10.1145/3701623",
      .family = "random walk",
      .largest_block = Config.unit_bytes * Config.word_bits,
  };

  rw_malloc(const region& memory, const simt::device_properties& /*machine*/,
            const options& /*none*/) {
    region_cursor cursor(memory, about.name);
    out_ = cursor.take<exhaustion>(1);
    const std::size_t bits_a_unit = 8 * unit + 3;
    const std::size_t slack = unit + 4 * sizeof(word);
    const std::size_t left = cursor.left(alignof(word));
    units_ = static_cast<std::uint32_t>(left < slack ? 1 : (left - slack) * 8 / bits_a_unit + 1);
    if (left / unit > most_units) {
      throw invalid_argument(std::string(about.name) + ": a heap of " +
                             std::to_string(memory.bytes) + " bytes; at most " +
                             std::to_string(std::size_t{most_units} * unit) + " are possible");
    }
    words_ = ceil_div(units_, width);
    used_ = cursor.take<word>(words_);
    last_ = cursor.take<word>(words_);
    bundled_ = cursor.take<word>(words_);
    // The estimate rounds up; the last unit may not fit any more.
    const auto fits = static_cast<std::uint32_t>(cursor.left(unit) / unit);
    if (fits != 0 && fits < units_) units_ = fits;
    base_ = cursor.take<std::byte>(std::size_t{units_} * unit, unit);
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) out_->format();
    for (std::uint64_t i = rank; i < words_; i += count) {
      used_[i] = beyond(i);
      last_[i] = 0;
      bundled_[i] = 0;
    }
  }

  WARPHEAP_DEVICE void* malloc(std::size_t bytes) const {
    if (bytes == 0 || bytes > about.largest_block) return nullptr;
    const simt::group team = simt::coalesced();
    const simt::lane_mask small = team.ballot(bytes < unit / 2);
    if (small.count() < 2) return alone(take_runs(team, units_of(bytes)));
    return bundle(team, small, bytes);
  }

  WARPHEAP_DEVICE void free(void* block) const {
    if (block == nullptr) return;
    auto* bytes = static_cast<std::byte*>(block);
    if (static_cast<std::size_t>(bytes - base_) % unit == 0) {
      give_run(unit_at(bytes));
      return;
    }
    const auto* of_piece = reinterpret_cast<piece_header*>(bytes - header);
    std::byte* front = bytes - header - of_piece->back;
    auto& live = reinterpret_cast<piece_header*>(front)->live;
    // Acquire and release: the last one to leave gives the run back after all others' accesses.
    if (simt::atomic_ref(live).fetch_sub(1, simt::order::acq_rel) == 1) {
      const std::uint32_t first = unit_at(front);
      // Relaxed: ordered before the run's release by `give_run`, like the rest of the bundle.
      clear(bundled_, first, 1, simt::order::relaxed);
      give_run(first);
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    for (std::uint64_t i = rank; i < words_; i += count) {
      const word absent = beyond(i);
      const word used = static_cast<word>(used_[i] & ~absent);
      findings.expect((used_[i] & absent) == absent, 1, i);
      findings.expect((last_[i] & ~used) == 0, 2, i);
      // The unit behind each: of the next word for the highest bit, free beyond the end.
      const word next = i + 1 < words_ ? static_cast<word>(used_[i + 1] & ~beyond(i + 1)) : word{0};
      const word behind = static_cast<word>(used >> 1 | next << (width - 1));
      findings.expect((used & ~behind & ~last_[i]) == 0, 3, i);
      const word before =
          i == 0 ? word{1} : static_cast<word>((last_[i - 1] | ~used_[i - 1]) >> (width - 1));
      const word starts = static_cast<word>(used & ((last_[i] | ~used) << 1 | before));
      findings.expect((bundled_[i] & ~starts) == 0, 4, i);
      std::uint64_t blocks =
          static_cast<std::uint64_t>(popcount(static_cast<word>(starts & ~bundled_[i])));
      for (word rest = bundled_[i]; rest != 0; rest &= static_cast<word>(rest - 1)) {
        const auto front =
            static_cast<std::uint32_t>(i * width) + static_cast<std::uint32_t>(lowest_bit(rest));
        blocks += reinterpret_cast<const piece_header*>(address(front))->live;
      }
      findings.in_use(blocks, static_cast<std::uint64_t>(popcount(used)) * unit);
    }
  }

 private:
  using word = std::conditional_t<Config.word_bits == 32, std::uint32_t, std::uint64_t>;
  // Two neighbouring words, the lower one in the low half.
  __extension__ using window =
      std::conditional_t<Config.word_bits == 32, std::uint64_t, unsigned __int128>;
  static constexpr std::uint32_t width = Config.word_bits;
  static constexpr word full = static_cast<word>(~word{0});
  static constexpr std::size_t unit = Config.unit_bytes;

  struct alignas(16) piece_header {
    std::uint32_t back;
    std::uint32_t live;
  };
  static constexpr std::size_t header = sizeof(piece_header);
  static constexpr std::uint32_t none = 0xffffffffu;
  static constexpr int largest_run = Config.word_bits;
  // Places that a lane has under way at once in a search, to hide their latency.
  static constexpr std::uint32_t batch = 4;
  // Unit numbers are 32 bits, and `none` is not one.
  static constexpr std::uint32_t most_units = none - 1;

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
    return static_cast<int>((bytes + unit - 1) / unit);
  }
  WARPHEAP_DEVICE word beyond(std::uint64_t i) const {
    const std::uint64_t first = i * width;
    if (first >= units_) return full;
    const std::uint64_t there = units_ - first;
    return there >= width ? word{0}
                          : static_cast<word>(full & ~low_bits<word>(static_cast<int>(there)));
  }

  /// One run for all of the group's `small` requests, and a run of its own for every other.
  WARPHEAP_DEVICE void* bundle(const simt::group& team, simt::lane_mask small,
                               std::size_t bytes) const {
    const bool bundled = small.contains(simt::lane_id());
    const auto piece =
        static_cast<std::uint32_t>(bundled ? round_up<std::size_t>(header + bytes, 2 * header) : 0);
    const std::uint32_t before = team.scan_add(piece);
    const std::uint32_t total = team.shuffle(before + piece, highest_bit(small.bits()));
    const bool asks = !bundled || simt::lane_id() == small.lowest();
    const int want = !asks ? 0 : units_of(bundled ? total : bytes);
    const std::uint32_t own = take_runs(team, want);
    const std::uint32_t shared = team.shuffle(own, small.lowest());
    if (!bundled) return alone(own);
    if (shared == none) {
      // No room for all together; perhaps for one or the other alone.
      return alone(take_runs(simt::coalesced(), 1));
    }
    std::byte* start = address(shared) + before;
    auto* mine = reinterpret_cast<piece_header*>(start);
    mine->back = before;
    if (asks) {
      mine->live = static_cast<std::uint32_t>(small.count());
      set(bundled_, shared, 1);
    }
    // The count must stand before any piece can be freed: all members pass here first.
    simt::group(small).sync();
    return start + header;
  }

  /// Runs of `want` units for the members of `team`, one each; 0 asks for nothing. The first unit,
  /// or `none`.
  WARPHEAP_DEVICE std::uint32_t take_runs(const simt::group& team, int want) const {
    const auto rank = static_cast<std::uint32_t>(team.rank());
    random_sequence random(team.broadcast(simt::noise()));
    std::uint32_t run = none;
    for (std::uint32_t draw = 0; draw < Config.draws; ++draw) {
      if (!team.any(want != 0 && run == none && !out_->is_out(static_cast<std::uint32_t>(want)))) {
        break;
      }
      // A region never runs around the heap's end; the last ones are cut short there.
      const std::uint32_t index = random.below(words_) + rank;
      window seen = look(index);
      if (want != 0 && run == none) run = take_in(index, seen, want);
      run = serve_others(team, index, seen, want, run);
    }
    if (want != 0 && run == none) run = search_all(want);
    team.sync();  // a receiver's accesses come after the acquire of the lane that claimed for it
    return run;
  }

  /// Serves the members that are still without a run, one after another, from what the others see.
  WARPHEAP_DEVICE std::uint32_t serve_others(const simt::group& team, std::uint32_t index,
                                             window& seen, int want, std::uint32_t run) const {
    const int me = simt::lane_id();
    for (simt::lane_mask left = team.ballot(want != 0 && run == none); !left.empty();
         left = left.without(left.lowest())) {
      const int who = left.lowest();
      const int units = team.shuffle(want, who);
      std::uint32_t found = none;
      // Ends: a claim that fails adds to what is seen, so the same run is not tried twice.
      for (;;) {
        const simt::lane_mask able = team.ballot(find_run(seen, units) >= 0);
        if (able.empty()) break;
        if (me == able.lowest()) found = take_in(index, seen, units);
        found = team.shuffle(found, able.lowest());
        if (found != none) break;
      }
      if (me == who) run = found;
    }
    return run;
  }

  /// The words `index` and `index + 1` as one window; beyond the end everything is in use. With
  /// `Examine`, in the way that `exhaustion` asks of searchers.
  template <bool Examine = false>
  WARPHEAP_DEVICE window look(std::uint32_t index) const {
    const auto at = [this](std::uint32_t i) {
      if (i >= words_) return full;
      simt::atomic_ref used(used_[i]);
      return Examine ? used.fetch_or(0, simt::order::acq_rel) : used.load(simt::order::relaxed);
    };
    return static_cast<window>(at(index)) | static_cast<window>(at(index + 1)) << width;
  }

  /// Where `units` free units in a row start in the lower word of `seen`; negative if nowhere.
  WARPHEAP_DEVICE static int find_run(window seen, int units) {
    window starts = static_cast<window>(~seen);
    for (int length = 1; length < units;) {
      const int step = length < units - length ? length : units - length;
      starts &= starts >> step;
      length += step;
    }
    const word in_low = static_cast<word>(starts);
    return in_low == 0 ? -1 : lowest_bit(in_low);
  }

  /// Tries to claim the first run of `units` that `seen` shows; what is learnt goes into `seen`.
  WARPHEAP_DEVICE std::uint32_t take_in(std::uint32_t index, window& seen, int units) const {
    const int bit = find_run(seen, units);
    if (bit < 0) return none;
    const int low_count =
        bit + units <= static_cast<int>(width) ? units : static_cast<int>(width) - bit;
    const word low = bit_range<word>(bit, low_count);
    const word high = low_bits<word>(units - low_count);
    if (!claim(index, low, seen, 0)) return none;
    if (high != 0 && !claim(index + 1, high, seen, width)) {
      // Orders as in `give_run`, so that one rule holds for all bits that become clear.
      simt::atomic_ref(used_[index]).fetch_and(static_cast<word>(~low), simt::order::acq_rel);
      out_->released();
      return none;
    }
    const std::uint32_t first = index * width + static_cast<std::uint32_t>(bit);
    // Relaxed: whoever frees the block got its address from this lane, or from one after it.
    set(last_, first + static_cast<std::uint32_t>(units) - 1, 1);
    return first;
  }

  /// Sets the bits of `mask`, all of them or none, and notes in `seen` what the word held.
  /// Progress: repeats only when another lane has changed the word.
  WARPHEAP_DEVICE bool claim(std::uint32_t index, word mask, window& seen,
                             std::uint32_t shift) const {
    simt::atomic_ref used(used_[index]);
    // Exchanged as a whole: a lane that loses has changed nothing, so nobody else can be misled.
    word before = static_cast<word>(seen >> shift);
    bool won = false;
    while (!won && (before & mask) == 0) {
      // Acquire pairs with the release in `give_run`: the last owner's accesses come first.
      won = used.compare_exchange(before, static_cast<word>(before | mask), simt::order::acquire);
    }
    seen |= static_cast<window>(static_cast<word>(before | mask)) << shift;
    return won;
  }

  /// Looks at every place in turn. The first pass reads; those that follow examine the words in the
  /// way that `exhaustion` needs to believe them.
  WARPHEAP_DEVICE std::uint32_t search_all(int want) const {
    // What is freed behind the searcher's back is found in the next pass.
    constexpr int most_passes = 16;
    const auto units = static_cast<std::uint32_t>(want);
    std::uint32_t run = search_once<false>(want);
    for (int pass = 1; pass < most_passes && run == none && !out_->is_out(units); ++pass) {
      const exhaustion::token mine = out_->announce();
      run = search_once<true>(want);
      if (run == none && out_->confirm(mine, units)) break;
    }
    return run;
  }

  /// One pass from a random word on, the lanes that call together side by side. Ends early for the
  /// lanes whose size turns out not to be there.
  template <bool Examine>
  WARPHEAP_DEVICE std::uint32_t search_once(int want) const {
    const simt::group team = simt::coalesced();
    const auto lanes = static_cast<std::uint32_t>(team.size());
    const auto rank = static_cast<std::uint32_t>(team.rank());
    const std::uint32_t start =
        team.broadcast(scale_to(static_cast<std::uint32_t>(simt::noise() >> 32), words_));
    std::uint32_t run = none;
    for (std::uint32_t done = 0; done < words_; done += batch * lanes) {
      // Who is still to be served, and the least that one of them wants: most places have less.
      const simt::lane_mask left =
          team.ballot(run == none && !out_->is_out(static_cast<std::uint32_t>(want)));
      if (left.empty()) break;
      int least = largest_run;
      for (simt::lane_mask rest = left; !rest.empty(); rest = rest.without(rest.lowest())) {
        const int theirs = team.shuffle(want, rest.lowest());
        least = theirs < least ? theirs : least;
      }
      window seen[batch];
      bool worth_it = false;
      for (std::uint32_t j = 0; j < batch; ++j) {
        seen[j] = look<Examine>(place(start, done + j * lanes + rank));
        worth_it = worth_it || find_run(seen[j], least) >= 0;
      }
      if (!team.any(worth_it)) continue;
      for (std::uint32_t j = 0; j < batch; ++j) {
        const int wanted = left.contains(simt::lane_id()) ? want : 0;
        run = serve_others(team, place(start, done + j * lanes + rank), seen[j], wanted, run);
      }
    }
    return run;
  }

  /// Word number `i` of a pass that begins at word `start`; beyond the last one, no word.
  WARPHEAP_DEVICE std::uint32_t place(std::uint32_t start, std::uint32_t i) const {
    if (i >= words_) return words_;
    return start + i < words_ ? start + i : start + i - words_;
  }

  WARPHEAP_DEVICE void set(word* bits, std::uint32_t first, int count) const {
    simt::atomic_ref(bits[first / width])
        .fetch_or(bit_range<word>(static_cast<int>(first % width), count), simt::order::relaxed);
  }
  WARPHEAP_DEVICE void clear(word* bits, std::uint32_t first, int count, simt::order o) const {
    simt::atomic_ref(bits[first / width])
        .fetch_and(static_cast<word>(~bit_range<word>(static_cast<int>(first % width), count)), o);
  }

  /// Gives back the run that starts at unit `first`.
  WARPHEAP_DEVICE void give_run(std::uint32_t first) const {
    const std::uint32_t end = run_end(first);
    // The mark goes first: once the units are free, the next owner may set his own there. Relaxed,
    // because the release below orders it.
    clear(last_, end - 1, 1, simt::order::relaxed);
    while (first < end) {
      const std::uint32_t room = width - first % width;
      const std::uint32_t count = end - first < room ? end - first : room;
      // Release pairs with the acquire in `claim`. Acquire: see `exhaustion`.
      clear(used_, first, static_cast<int>(count), simt::order::acq_rel);
      first += count;
    }
    out_->released();
  }

  /// One past the last unit of the run that starts at `first`.
  WARPHEAP_DEVICE std::uint32_t run_end(std::uint32_t first) const {
    std::uint32_t index = first / width;
    // Relaxed: this lane got the block after its mark was set, and nobody else touches the mark.
    word marks = static_cast<word>(simt::atomic_ref(last_[index]).load(simt::order::relaxed) &
                                   ~low_bits<word>(static_cast<int>(first % width)));
    // A run has a mark within two words; the bound keeps a pointer that is no block from running
    // on.
    if (marks == 0 && index + 1 < words_) {
      marks = simt::atomic_ref(last_[++index]).load(simt::order::relaxed);
    }
    return marks == 0 ? first + 1
                      : index * width + static_cast<std::uint32_t>(lowest_bit(marks)) + 1;
  }

  exhaustion* out_;
  word* used_;
  word* last_;
  word* bundled_;
  std::byte* base_;
  std::uint32_t units_;
  std::uint32_t words_;
};

WARPHEAP_END_NAMESPACE
