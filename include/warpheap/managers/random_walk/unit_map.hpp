// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "warpheap/core/align.hpp"
#include "warpheap/heap/manager.hpp"
#include "warpheap/managers/random_walk/run_left.hpp"
#include "warpheap/managers/random_walk/search_rounds.hpp"
#include "warpheap/managers/random_walk/walk_draws.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

/// No run, where the number of a run's first unit is expected.
inline constexpr std::uint32_t no_run = 0xffffffffu;

/// Which units of a heap are in use, and where allocated runs end: two bits per unit. Finds free
/// runs by random walks of teams of lanes. The bitmaps' invariants and the search's progress are in
/// rw_malloc.hpp.
///
/// \tparam WordBits bits of a word of the bitmaps, and units of the longest run: 32 or 64
/// \tparam Draws places that are drawn at random
/// \tparam SearchesAll whether all places are then searched in turn; otherwise, no run is found
/// \tparam FutileRounds of that search, which leave nothing for a request, after which it gives up
template <int WordBits, std::uint32_t Draws, bool SearchesAll, int FutileRounds = 4>
class unit_map {
 public:
  using word = std::conditional_t<WordBits == 32, std::uint32_t, std::uint64_t>;

  /// Units beyond this have no number.
  static constexpr std::uint32_t most_units = no_run - 1;

  unit_map() = default;
  /// Takes the bitmaps for `units` units out of `cursor`.
  unit_map(region_cursor& cursor, std::uint32_t units)
      : out_(cursor.take<shared_rounds>(1)),
        words_(ceil_div(units, width)),
        used_(cursor.take<word>(words_)),
        last_(cursor.take<word>(words_)),
        crossing_(cursor.take<word>(crossing_words())),
        units_(units) {}

  WARPHEAP_HD std::uint32_t units() const { return units_; }
  WARPHEAP_HD std::uint32_t words() const { return words_; }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) out_->format();
    for (std::uint64_t i = rank; i < words_; i += count) {
      used_[i] = beyond(i);
      last_[i] = 0;
    }
    for (std::uint64_t i = rank; i < crossing_words(); i += count) crossing_[i] = 0;
  }

  /// Runs of `want` units for the members of `team`, one each; 0 requests nothing. Returns the
  /// first unit, or `no_run`.
  WARPHEAP_DEVICE std::uint32_t take_runs(const simt::group& team, int want) const {
    return search(team, want, walk(team, want));
  }

  /// The same, only from places that are drawn at random. A member that has `run` keeps it. To be
  /// followed by `search`.
  WARPHEAP_DEVICE std::uint32_t walk(const simt::group& team, int want,
                                     std::uint32_t run = no_run) const {
    const auto rank = static_cast<std::uint32_t>(team.rank());
    walk_draws draws(team);
    for (std::uint32_t draw = 0; draw < Draws; ++draw) {
      if (!team.any(want != 0 && run == no_run &&
                    !out_->is_out(static_cast<std::uint32_t>(want)))) {
        break;
      }
      // A region never wraps around the heap's end; the last ones are cut short there.
      run = take_from(team, draws.next(words_) + rank, want, run);
    }
    return run;
  }

  /// The rest of what `walk` has begun: looks at every place for members without a run, together
  /// with other groups that search. `no_run` means that there was none at a moment of the call, or
  /// that others freed and took all the time (`search_rounds`).
  WARPHEAP_DEVICE std::uint32_t search(const simt::group& team, int want, std::uint32_t run) const {
    if constexpr (SearchesAll) {
      // With all members: those that are served would only wait for the others.
      if (team.any(want != 0 && run == no_run)) run = search_runs(team, want, run);
    }
    team.sync();  // a receiver's accesses come after the acquire of the lane that claimed for it
    return run;
  }

  /// Gives back the run that starts at unit `first`.
  WARPHEAP_DEVICE void give_run(std::uint32_t first) const {
    const std::uint32_t end = run_end(first);
    // The mark goes first: once the units are free, the next owner may set its own there. Relaxed,
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

 private:
  template <class>
  friend class unit_inspector;

  // Two neighbouring words, the lower one in the low half.
  using window = std::conditional_t<WordBits == 32, std::uint64_t, unsigned __int128>;
  static constexpr std::uint32_t width = WordBits;
  static constexpr word full = static_cast<word>(~word{0});
  static constexpr int largest_run = WordBits;
  // Places that a lane has under way at once in a search, to hide their latency.
  static constexpr std::uint32_t batch = 4;
  static constexpr std::uint32_t pause = 100;  // nanoseconds

  WARPHEAP_HD std::uint32_t crossing_words() const { return ceil_div(words_, width); }

  WARPHEAP_DEVICE word beyond(std::uint64_t i) const { return bits_beyond<word>(units_, i); }

  /// Serves the members that are without a run from the words that each of them looks at, its own
  /// at `index` and the next one.
  WARPHEAP_DEVICE std::uint32_t take_from(const simt::group& team, std::uint32_t index, int want,
                                          std::uint32_t run) const {
    window seen = look(index);
    if (want != 0 && run == no_run) run = take_in(index, seen, want);
    return serve_others(team, index, seen, want, run);
  }

  /// Serves the members that are still without a run, one after another, from what the others see.
  template <bool Examine = false>
  WARPHEAP_DEVICE std::uint32_t serve_others(const simt::group& team, std::uint32_t index,
                                             window& seen, int want, std::uint32_t run) const {
    const int me = simt::lane_id();
    simt::lane_mask left = team.ballot(want != 0 && run == no_run);
    while (!left.empty()) {
      const int who = left.lowest();
      left = left.without(who);
      const int units = team.shuffle(want, who);
      std::uint32_t found = no_run;
      // Ends: a claim that fails adds to what is seen, so the same run is not tried twice, unless
      // the claim that won has failed as well, against a third that has not.
      for (;;) {
        const simt::lane_mask able = team.ballot(find_run(seen, units) >= 0);
        if (able.empty()) {
          // Nor is there anything for those that want as much or more.
          left = left & team.ballot(want < units);
          break;
        }
        if (me == able.lowest()) found = take_in<Examine>(index, seen, units);
        found = team.shuffle(found, able.lowest());
        if (found != no_run) break;
      }
      if (me == who) run = found;
    }
    return run;
  }

  /// The words `index` and `index + 1` as one window; beyond the end everything is in use. With
  /// `Examine`, in the way that `exhaustion` asks of searchers.
  template <bool Examine = false>
  WARPHEAP_DEVICE window look(std::uint32_t index) const {
    // As needed: in the search, what follows from the end would keep registers all the way.
    return window_at(index, Examine ? simt::as_needed(words_) : words_, [this](std::uint32_t i) {
      return Examine ? examine(i) : simt::atomic_ref(used_[i]).load(simt::order::relaxed);
    });
  }
  template <class At>
  WARPHEAP_DEVICE static window window_at(std::uint32_t index, std::uint32_t end, const At& at) {
    const word low = index < end ? at(index) : full;
    const word high = index + 1 < end ? at(index + 1) : full;
    return static_cast<window>(low) | static_cast<window>(high) << width;
  }

  /// The windows of `batch` places, `step` apart, as `look<true>` sees them; beyond `end` there is
  /// no place. Relaxed accesses between two fences, because ordered ones wait for each other: the
  /// fence before is the caller's, and releases.
  WARPHEAP_DEVICE void look_at_batch(std::uint32_t first, std::uint32_t step, std::uint32_t end,
                                     window (&seen)[batch]) const {
    const std::uint32_t all = simt::as_needed(words_);
    for (std::uint32_t j = 0; j < batch; ++j) {
      const std::uint32_t i = first + j * step;
      seen[j] = window_at(i, i < end ? all : 0, [this](std::uint32_t at) {
        return simt::atomic_ref(used_[at]).fetch_or(0, simt::order::relaxed);
      });
    }
    // Acquire: pairs with the release in `claim_across`, so that its mark is seen with its bits.
    simt::fence(simt::order::acquire);
    for (std::uint32_t j = 0; j < batch; ++j) {
      const std::uint32_t i = first + j * step;
      if (i < end && (is_crossed(i) || (i + 1 < all && is_crossed(i + 1)))) seen[j] = look<true>(i);
    }
  }

  /// Whether a run that lies in word `i` and the next is being claimed.
  WARPHEAP_DEVICE bool is_crossed(std::uint32_t i) const {
    const word marks = simt::atomic_ref(crossing_[i / width]).load(simt::order::acquire);
    return (marks >> i % width & 1) != 0;
  }

  /// Word `i`, in the way that `exhaustion` asks of searchers, and as no claim that may still fail
  /// has left it. Ends: a lane that holds a mark never waits.
  WARPHEAP_DEVICE word examine(std::uint32_t i) const {
    for (;;) {
      const word found = simt::atomic_ref(used_[i]).fetch_or(0, simt::order::acq_rel);
      if (!is_crossed(i)) return found;
      simt::backoff(pause);
    }
  }

  /// Where `units` consecutive free units start in the lower word of `seen`; negative if nowhere.
  WARPHEAP_DEVICE static int find_run(window seen, int units) {
    const window starts = starts_of_runs(static_cast<window>(~seen), units);
    const word in_low = static_cast<word>(starts);
    return in_low == 0 ? -1 : lowest_bit(in_low);
  }

  /// Tries to claim the first run of `units` that `seen` shows, and updates `seen`. With `Examine`,
  /// a run that was lost to a claim which then failed is seen again.
  template <bool Examine = false>
  WARPHEAP_DEVICE std::uint32_t take_in(std::uint32_t index, window& seen, int units) const {
    const int bit = find_run(seen, units);
    if (bit < 0) return no_run;
    [[maybe_unused]] const window before = seen;
    const int low_count =
        bit + units <= static_cast<int>(width) ? units : static_cast<int>(width) - bit;
    const word low = bit_range<word>(bit, low_count);
    const word high = low_bits<word>(units - low_count);
    const bool claimed = high == 0 ? claim(index, low, seen, 0, simt::order::acquire)
                                   : claim_across(index, low, high, seen);
    if (!claimed) {
      if constexpr (Examine) seen = before | look<true>(index);
      return no_run;
    }
    const std::uint32_t first = index * width + static_cast<std::uint32_t>(bit);
    // Relaxed: the lane that frees the block got its address from this lane, or from one after it.
    set(last_, first + static_cast<std::uint32_t>(units) - 1, 1);
    return first;
  }

  /// Claims a run that lies in two words, one after the other, and gives back the lower part if the
  /// upper one is lost. During that time, the boundary after word `index` is marked: searchers do
  /// not consider the lower part used before the mark is gone. Progress: a lane that holds a mark
  /// never waits, so the next one gets it; lanes whose run is gone do not wait for it.
  WARPHEAP_DEVICE bool claim_across(std::uint32_t index, word low, word high, window& seen) const {
    const word bit = word{1} << index % width;
    const simt::atomic_ref crossing(crossing_[index / width]);
    const window wanted = static_cast<window>(low) | static_cast<window>(high) << width;
    for (;;) {
      seen |= look(index);
      if ((seen & wanted) != 0) return false;
      if ((crossing.fetch_or(bit, simt::order::acquire) & bit) == 0) break;
      simt::backoff(pause);
    }
    // Release: a searcher that sees the bits set sees the mark.
    bool claimed = claim(index, low, seen, 0, simt::order::acq_rel);
    if (claimed && !claim(index + 1, high, seen, width, simt::order::acquire)) {
      // Orders as in `give_run`, so that one rule holds for all bits that become clear.
      simt::atomic_ref(used_[index]).fetch_and(static_cast<word>(~low), simt::order::acq_rel);
      out_->released();
      claimed = false;
    }
    // Release: a searcher that sees the mark gone sees the outcome of the claim.
    crossing.fetch_and(static_cast<word>(~bit), simt::order::release);
    return claimed;
  }

  /// Sets the bits of `mask`, all of them or no_run, and notes in `seen` what the word held.
  /// Progress: repeats only when another lane has changed the word.
  WARPHEAP_DEVICE bool claim(std::uint32_t index, word mask, window& seen, std::uint32_t shift,
                             simt::order o) const {
    simt::atomic_ref used(used_[index]);
    // Exchanged as a whole: a lane that loses has changed nothing, so no other lane can be misled.
    word before = static_cast<word>(seen >> shift);
    bool won = false;
    while (!won && (before & mask) == 0) {
      // Acquire pairs with the release in `give_run`: the last owner's accesses come first.
      won = used.compare_exchange(before, static_cast<word>(before | mask), o);
    }
    seen |= static_cast<window>(static_cast<word>(before | mask)) << shift;
    return won;
  }

  WARPHEAP_DEVICE std::uint32_t search_runs(const simt::group& team, int want,
                                            std::uint32_t run) const {
    const auto wanted = [&] { return run == no_run ? static_cast<std::uint32_t>(want) : 0u; };
    search_rounds<FutileRounds>(
        *out_, team, words_, wanted,
        [&](std::uint32_t first, std::uint32_t count) {
          return visit_words(team, first, count, want, run);
        },
        [&](std::uint32_t at) {
          run = take_from(team, at + static_cast<std::uint32_t>(team.rank()), want, run);
        });
    return run;
  }

  /// Examines `count` words from `first` on and serves the members from them. The longest run that
  /// is left in those that the caller has examined.
  WARPHEAP_DEVICE run_left visit_words(const simt::group& team, std::uint32_t first,
                                       std::uint32_t count, int want, std::uint32_t& run) const {
    const auto lanes = static_cast<std::uint32_t>(team.size());
    const auto rank = static_cast<std::uint32_t>(team.rank());
    run_left longest;
    // Release: a lane that changes a word after this look sees that there is a search.
    simt::fence(simt::order::release);
    for (std::uint32_t done = 0; done < count; done += batch * lanes) {
      // The least that a member wants that is not served: most places have less.
      const bool wants = want != 0 && run == no_run;
      const auto least =
          static_cast<int>(team.least(static_cast<std::uint32_t>(wants ? want : largest_run + 1)));
      window seen[batch];
      look_at_batch(first + done + rank, lanes, first + count, seen);
      bool worth_it = false;
      for (std::uint32_t j = 0; j < batch; ++j) {
        worth_it = worth_it || (least <= largest_run && find_run(seen[j], least) >= 0);
      }
      const bool serve = team.any(worth_it);
      for (std::uint32_t j = 0; j < batch; ++j) {
        const std::uint32_t i = done + j * lanes + rank;
        if (serve)
          run = serve_others<true>(team, i < count ? first + i : words_, seen[j], want, run);
        const auto left = static_cast<std::uint32_t>(longest_run(seen[j]));
        if (longest.units < left) longest = {first + i, left};
      }
    }
    return longest;
  }

  /// Units of the longest free run that starts in the lower word of `seen`.
  WARPHEAP_DEVICE static int longest_run(window seen) {
    window starts = static_cast<window>(~seen);
    int length = 0;
    for (; static_cast<word>(starts) != 0 && length < largest_run; ++length) {
      starts &= static_cast<window>(~seen) >> (length + 1);
    }
    return length;
  }

  WARPHEAP_DEVICE void set(word* bits, std::uint32_t first, int count) const {
    simt::atomic_ref(bits[first / width])
        .fetch_or(bit_range<word>(static_cast<int>(first % width), count), simt::order::relaxed);
  }
  WARPHEAP_DEVICE void clear(word* bits, std::uint32_t first, int count, simt::order o) const {
    simt::atomic_ref(bits[first / width])
        .fetch_and(static_cast<word>(~bit_range<word>(static_cast<int>(first % width), count)), o);
  }

  /// One past the last unit of the run that starts at `first`.
  WARPHEAP_DEVICE std::uint32_t run_end(std::uint32_t first) const {
    std::uint32_t index = first / width;
    // Relaxed: this lane got the block after its mark was set, and no other lane touches the mark.
    word marks = static_cast<word>(simt::atomic_ref(last_[index]).load(simt::order::relaxed) &
                                   ~low_bits<word>(static_cast<int>(first % width)));
    // A run has a mark within two words; the bound keeps a pointer that is not a live block from
    // running on.
    if (marks == 0 && index + 1 < words_) {
      marks = simt::atomic_ref(last_[++index]).load(simt::order::relaxed);
    }
    return marks == 0 ? first + 1
                      : index * width + static_cast<std::uint32_t>(lowest_bit(marks)) + 1;
  }

  shared_rounds* out_ = nullptr;
  std::uint32_t words_ = 0;
  word* used_ = nullptr;
  word* last_ = nullptr;
  word* crossing_ = nullptr;
  std::uint32_t units_ = 0;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
