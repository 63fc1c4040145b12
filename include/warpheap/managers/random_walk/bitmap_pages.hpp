// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What RW-BM, CoRW and CRW have in common: random walks over the words of a bitmap of fixed pages.
///
/// M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng: "Dynamic Buffer Management in Massively
/// Parallel Systems: The Power of Randomness", ACM Transactions on Parallel Computing 12(1), 2025,
/// DOI 10.1145/3701623.
///
/// Algorithm: one bit per page, 1 = in use. A probe reads a random word and so sees 32 or 64 pages.
/// - independent (RW-BM): each lane draws words until it wins a free bit;
/// - collaborative (CoRW): each lane of those that call together draws a word, and lanes that found
///   several free pages give them to lanes that found none;
/// - clustered (CRW): a thread first looks next to the page that it got last, then walks like
/// RW-BM. free clears the bit.
///
/// Layout:
///
///     [ search ][ hints: 4 B each, CRW only ][ used: 1 bit per page ]
///     [ locks: 1 bit per word, optional ][ pages ... ]
///
/// Invariants: I1 the bits beyond the last page are set (place: the word); I2 no word is locked
/// (place: the word of the lock map).
///
/// Progress: lock-free. A bit is lost only to a lane that won it, and a team walks without end only
/// if others always win all that it saw. A locked word is skipped and never waited for. The full
/// search at the end is bounded (`search_rounds`). Steady load is as in rw.hpp.
///
/// Deviations: bits are set by an atomic OR that tells what was won, so the paper's lock map is not
/// needed for correctness and is an option (`lock_map`) that filters contention; as printed it was
/// never released. Collaboration takes from a word exactly the pages that it hands out; as printed
/// it also took, and lost, a page of every further word. Any subset of a warp can collaborate. Bits
/// are cleared atomically, because a word has many owners. CRW keeps its hint in global memory,
/// because malloc cannot keep anything in the caller's registers.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/managers/random_walk/counted_steps.hpp"
#include "warpheap/managers/random_walk/exhaustion_rule.hpp"
#include "warpheap/managers/random_walk/full_search.hpp"
#include "warpheap/managers/random_walk/hand_out.hpp"
#include "warpheap/managers/random_walk/inspection.hpp"
#include "warpheap/managers/random_walk/page_blocks.hpp"
#include "warpheap/managers/random_walk/page_pool.hpp"
#include "warpheap/managers/random_walk/publication.hpp"
#include "warpheap/managers/random_walk/walk_draws.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

WARPHEAP_BEGIN_NAMESPACE
namespace random_walk {

enum class search_kind { independent, collaborative, clustered };

struct bitmap_config {
  search_kind search = search_kind::collaborative;
  /// Bits of a word of the bitmap: 32 or 64.
  int word_bits = 32;
  bool lock_map = false;
  exhaustion_rule exhaustion = exhaustion_rule::exact;
  /// Share of free pages, in a million, below which a walk is given up.
  std::uint32_t low_water_ppm = 5000;
};

template <bitmap_config Config, class Steps = uncounted_steps>
class bitmap_pages : public page_blocks<bitmap_pages<Config, Steps>> {
 public:
  using options = page_options;

  static_assert(Config.word_bits == 32 || Config.word_bits == 64,
                "bitmap_config::word_bits must be 32 or 64");
  static_assert(Config.low_water_ppm > 0 && Config.low_water_ppm < 1'000'000,
                "bitmap_config::low_water_ppm must lie between 0 and 1,000,000");
  static constexpr capabilities about{
      .name = Config.search == search_kind::independent     ? "rw_bm"
              : Config.search == search_kind::collaborative ? "corw"
                                                            : "crw",
      .description = Config.search == search_kind::independent
                         ? "random walks over the words of a bitmap of fixed pages"
                     : Config.search == search_kind::collaborative
                         ? "like rw_bm; the lanes of a warp share what they find"
                         : "like rw_bm, but first looks next to the page that the thread got last",
      .folder = "random_walk",
      .published = published,
      .deviations =
          {"Bits are set by an atomic OR that tells what was won, so the paper's lock map is an "
           "option that filters contention.",
           "Bits are cleared atomically: a word has many owners.",
           Config.search == search_kind::collaborative
               ? "Collaboration takes exactly the pages that it hands out, among any lanes of a "
                 "warp."
           : Config.search == search_kind::clustered
               ? "The page that a thread got last is kept in global memory."
               : nullptr},
  };

  bitmap_pages(const region& memory, const simt::device_properties& machine,
               const options& settings) {
    page_pool::check(about.name, settings, memory.bytes);
    if constexpr (clustered) {
      // A slot for each thread that can be resident; threads that share one share a hint.
      const std::size_t most = memory.bytes / settings.page_bytes + 1;
      hint_count_ = static_cast<std::uint32_t>(
          machine.resident_threads < most ? machine.resident_threads : most);
    }
    lay_out_most(memory, about.name, 1u, page_pool::most_pages(settings, memory.bytes),
                 [&](region_cursor& cursor, std::uint32_t pages) {
                   out_ = cursor.take<shared_rounds>(1);
                   if constexpr (clustered) hints_ = cursor.take<std::uint32_t>(hint_count_);
                   words_ = ceil_div(pages, width);
                   used_ = cursor.take<word>(words_);
                   if constexpr (Config.lock_map) locks_ = cursor.take<word>(lock_words());
                   pages_ = page_pool(cursor, pages, settings);
                 });
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) out_->format();
    for (std::uint64_t i = rank; i < words_; i += count) used_[i] = beyond(i);
    if constexpr (Config.lock_map) {
      for (std::uint64_t i = rank; i < lock_words(); i += count) locks_[i] = 0;
    }
    if constexpr (clustered) {
      for (std::uint64_t i = rank; i < hint_count_; i += count) hints_[i] = no_page;
    }
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    const word* const locks = Config.lock_map ? locks_ : nullptr;
    inspect_bits<word>(used_, locks, pages_, rank, count, findings);
  }

  WARPHEAP_HD const page_pool& pages() const { return pages_; }
  static constexpr int word_bits = Config.word_bits;
  /// How it looks for a page, in the survey's rows.
  static constexpr const char* search = Config.search == search_kind::independent ? "independent"
                                        : Config.search == search_kind::collaborative
                                            ? "collaborative"
                                            : "clustered";

  /// The same pages; each probe of a thread is counted in `counts[thread_rank()]`.
  WARPHEAP_HD bitmap_pages<Config, counted_steps> counting(std::uint32_t* counts) const {
    return {*this, counted_steps(counts)};
  }

  /// The number of a page that is now the caller's, or `no_page`.
  WARPHEAP_DEVICE std::uint32_t take_page() const {
    const simt::group team = simt::coalesced(used_);
    std::uint32_t page = no_page;
    if constexpr (clustered) {
      page = take_near_last();
    } else if constexpr (Config.search == search_kind::collaborative) {
      page = take_together(team);
    } else {
      page = walk();
    }
    if constexpr (!exact) return page;
    return search_pages(
        *out_, team, words_, page,
        [this](std::uint32_t index) {
          return simt::atomic_ref(used_[index]).fetch_or(0, simt::order::relaxed) != full;
        },
        [this](std::uint32_t index) { return take_from(index, simt::lane_id()); });
  }

  WARPHEAP_DEVICE void give_page(std::uint32_t page) const {
    // Release pairs with the acquire of the OR that takes the bit next: the last owner's accesses
    // come before the next one's. Acquire: see `exhaustion`.
    simt::atomic_ref(used_[page / width])
        .fetch_and(static_cast<word>(~(word{1} << page % width)),
                   exact ? simt::order::acq_rel : simt::order::release);
    if constexpr (exact) out_->released();
  }

 private:
  template <bitmap_config, class>
  friend class bitmap_pages;

  template <class Other>
  WARPHEAP_HD bitmap_pages(const bitmap_pages<Config, Other>& same, const Steps& steps)
      : out_(same.out_),
        used_(same.used_),
        locks_(same.locks_),
        hints_(same.hints_),
        words_(same.words_),
        hint_count_(same.hint_count_),
        pages_(same.pages_),
        steps_(steps) {}

  using word = std::conditional_t<Config.word_bits == 32, std::uint32_t, std::uint64_t>;
  static constexpr std::uint32_t width = Config.word_bits;
  static constexpr word full = static_cast<word>(~word{0});
  static constexpr bool exact = Config.exhaustion == exhaustion_rule::exact;
  static constexpr bool clustered = Config.search == search_kind::clustered;
  static constexpr std::uint32_t probes_between_looks = 16;
  // Probes of a walk: as many as inspect the pages of `probes_until_exhausted`. Probes that meet a
  // lock show nothing, but they also count, so that a walk ends in any case.
  static constexpr std::uint32_t probe_limit =
      probes_until_exhausted(Config.exhaustion, Config.low_water_ppm) / width + 1;

  WARPHEAP_HD std::uint32_t lock_words() const { return ceil_div(words_, width); }

  /// The bits of word `i` that stand for no page.
  WARPHEAP_DEVICE word beyond(std::uint64_t i) const {
    return bits_beyond<word>(pages_.count(), i);
  }

  /// The word's bits, from a look without guarantees.
  WARPHEAP_DEVICE word look(std::uint32_t index) const {
    return simt::atomic_ref(used_[index]).load(simt::order::relaxed);
  }

  // Acquire: a lane that finds the bit clear comes after the last holder's critical section.
  WARPHEAP_DEVICE bool try_lock(std::uint32_t index) const {
    const word bit = word{1} << index % width;
    return (simt::atomic_ref(locks_[index / width]).fetch_or(bit, simt::order::acquire) & bit) == 0;
  }
  WARPHEAP_DEVICE void unlock(std::uint32_t index) const {
    simt::atomic_ref(locks_[index / width])
        .fetch_and(static_cast<word>(~(word{1} << index % width)), simt::order::release);
  }

  /// Takes the first free page of a word at or after bit `from`, and then before it; `no_page` if
  /// the word is full. Repeats only if another lane wins the bit first.
  WARPHEAP_DEVICE std::uint32_t take_from(std::uint32_t index, int from) const {
    simt::atomic_ref used(used_[index]);
    word seen = used.load(simt::order::relaxed);
    while (seen != full) {
      const int bit = first_free(seen, from);
      // Acquire pairs with the release in `give_page`.
      seen = used.fetch_or(word{1} << bit, simt::order::acquire);
      if ((seen >> bit & 1) == 0) return index * width + static_cast<std::uint32_t>(bit);
      seen = static_cast<word>(seen | word{1} << bit);
    }
    return no_page;
  }

  /// One probe of a walk.
  WARPHEAP_DEVICE std::uint32_t probe(std::uint32_t index, int from) const {
    if constexpr (Config.lock_map) {
      if (!try_lock(index)) return no_page;
      const std::uint32_t page = take_from(index, from);
      unlock(index);
      return page;
    } else {
      return take_from(index, from);
    }
  }

  /// The page after the one that this thread got last, if it is free; otherwise, a walk. A page
  /// that only the full search finds is not kept: hardly any other is free, and none near it.
  WARPHEAP_DEVICE std::uint32_t take_near_last() const {
    std::uint32_t& slot = hints_[static_cast<std::uint32_t>(simt::thread_rank()) % hint_count_];
    // Only a hint, and threads may share it: no order is needed.
    const std::uint32_t last = simt::atomic_ref(slot).load(simt::order::relaxed);
    std::uint32_t page = no_page;
    if (last != no_page) {
      const std::uint32_t next = last + 1 < pages_.count() ? last + 1 : 0;
      steps_.step();
      page = probe(next / width, static_cast<int>(next % width));
    }
    if (page == no_page) page = walk();
    simt::atomic_ref(slot).store(page != no_page ? page : last, simt::order::relaxed);
    return page;
  }

  WARPHEAP_DEVICE std::uint32_t walk() const {
    walk_draws draws;
    for (std::uint32_t tried = 0; tried < probe_limit; ++tried) {
      if (exact && tried % probes_between_looks == 0 && out_->is_out(1)) return no_page;
      steps_.step();
      const bit_place start = draws.next_bit(words_, width);
      const std::uint32_t page = probe(start.word, start.bit);
      if (page != no_page) return page;
    }
    return no_page;
  }

  /// The walk of all lanes that call together: steps are the group's, the same for every member.
  WARPHEAP_DEVICE std::uint32_t take_together(const simt::group& team) const {
    const int me = simt::lane_id();
    walk_draws draws;
    std::uint32_t page = no_page;
    simt::lane_mask need = team.mask();
    // A step inspects a word for each member. Those count that find nothing at all, one after
    // another; a page that is found and lost to another lane shows that pages are left.
    const std::uint32_t limit = probe_limit / static_cast<std::uint32_t>(team.size()) + 1;
    for (std::uint32_t in_vain = 0; in_vain < limit && !need.empty();) {
      if (exact && in_vain % probes_between_looks == 0 && team.any(out_->is_out(1))) break;
      steps_.step();
      const auto [index, from] = draws.next_bit(words_, width);
      const bool mine = !Config.lock_map || try_lock(index);
      word seen = mine ? look(index) : full;
      in_vain = team.any(seen != full) ? 0 : in_vain + 1;
      // Rounds, until all have a page or the words have none. More than one if others took a page
      // that was promised; each round sets a bit in what some member has seen.
      while (!need.empty() && team.any(seen != full)) {
        const hand_out<word> share = match(team, need, seen, from);
        word won = 0;
        if (share.taken != 0) {
          // Acquire pairs with the release in `give_page`.
          const word before =
              simt::atomic_ref(used_[index]).fetch_or(share.taken, simt::order::acquire);
          won = static_cast<word>(share.taken & ~before);
          seen = static_cast<word>(before | share.taken);
        }
        // A promise counts if the supplier has won the page.
        const int supplier = share.supplier < 0 ? me : share.supplier;
        const word theirs = team.shuffle(won, supplier);
        const std::uint32_t there = team.shuffle(index, supplier);
        if (share.supplier >= 0 && (theirs >> share.bit & 1) != 0) {
          page = there * width + static_cast<std::uint32_t>(share.bit);
        }
        need = team.ballot(page == no_page);
      }
      if constexpr (Config.lock_map) {
        if (mine) unlock(index);
      }
    }
    // A receiver's accesses must come after its supplier's acquire.
    team.sync();
    return page;
  }

  shared_rounds* out_;
  word* used_;
  word* locks_ = nullptr;
  std::uint32_t* hints_ = nullptr;
  std::uint32_t words_;
  std::uint32_t hint_count_ = 1;
  page_pool pages_;
  // Not [[no_unique_address]]: host and device compilers lay kernel arguments out differently then.
  Steps steps_;
};

}  // namespace random_walk
WARPHEAP_END_NAMESPACE
