// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// RW, the basic random walk over fixed pages.
///
/// M. Pham, Y. Yuan, H. Li, C. Mou, Y. Tu, Z. Xu, J. Meng: "Dynamic Buffer Management in Massively
/// Parallel Systems: The Power of Randomness", ACM Transactions on Parallel Computing 12(1), 2025,
/// DOI 10.1145/3701623.
///
/// Algorithm: every page has its own flag, and there is no global state. malloc draws page numbers
/// at random until it meets one whose flag is clear and wins it with one atomic exchange. free
/// clears the flag. With T pages, A of them free, N callers need T/N ln(A / (A-N)) draws each.
///
/// Layout:
///
///     [ search ][ flags: 32 bits per page ][ pages ... ]
///
/// Invariants: I1 every flag is 0 or 1 (place: the page).
///
/// Steady load (`rw`, and by words `rw_bm`, `corw` and `crw`): the fewer pages are free, the more
/// are drawn for each request; if none is free, all are searched. A group searches with all of its
/// lanes, and gives up after four searches that have left no page, or 16 whose pages others took,
/// beside lanes that free all the time. In the survey's case, launches took up to 497 ms (`rw`) and
/// 215 ms (`corw`) with 64 B, and less than 100 ms with the other two; with 1 to 32 KiB in 8,192
/// pages of 32 KiB, 724 ms (`rw`), 156 ms (`rw_bm`), 158 ms (`crw`) and 53 ms (`corw`).
///
/// Progress: lock-free. A draw fails only because the page is in use. The full search at the end is
/// bounded (`search_rounds`).
///
/// Deviations: in an exhausted heap the paper's search ends by a statistical rule only, which is
/// the option `exhaustion_rule::statistical`; the default ends with a search of all pages. Freeing
/// is a release store, where the paper has a plain one: the next owner must not see writes of the
/// last.

#include "warpheap/heap/fit_units.hpp"
#include "warpheap/managers/random_walk/counted_steps.hpp"
#include "warpheap/managers/random_walk/exhaustion_rule.hpp"
#include "warpheap/managers/random_walk/full_search.hpp"
#include "warpheap/managers/random_walk/inspection.hpp"
#include "warpheap/managers/random_walk/page_blocks.hpp"
#include "warpheap/managers/random_walk/page_pool.hpp"
#include "warpheap/managers/random_walk/publication.hpp"
#include "warpheap/managers/random_walk/walk_draws.hpp"

#include <cstddef>
#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE

struct rw_config {
  random_walk::exhaustion_rule exhaustion = random_walk::exhaustion_rule::exact;
  /// Share of free pages, in a million, below which a walk gives up.
  std::uint32_t low_water_ppm = 5000;
};

template <rw_config Config = rw_config{}, class Steps = random_walk::uncounted_steps>
class rw : public random_walk::page_blocks<rw<Config, Steps>> {
 public:
  using options = random_walk::page_options;

  static constexpr capabilities about{
      .name = "rw",
      .description = "random walks over the flags of fixed pages",
      .folder = "random_walk",
      .published = random_walk::published,
      .deviations =
          {"By default a walk ends with a search of all pages, so null is certain while no "
           "lane frees; the paper's statistical rule is an option.",
           "Freeing is a release, so that the next owner sees no writes of the last."},
  };
  static_assert(Config.low_water_ppm > 0 && Config.low_water_ppm < 1'000'000,
                "rw_config::low_water_ppm must lie between 0 and 1,000,000");

  rw(const region& memory, const simt::device_properties& /*machine*/, const options& settings) {
    random_walk::page_pool::check(about.name, settings, memory.bytes);
    lay_out_most(memory, about.name, 1u, random_walk::page_pool::most_pages(settings, memory.bytes),
                 [&](region_cursor& cursor, std::uint32_t pages) {
                   out_ = cursor.take<random_walk::shared_rounds>(1);
                   flags_ = cursor.take<std::uint32_t>(pages);
                   pages_ = random_walk::page_pool(cursor, pages, settings);
                 });
  }

  WARPHEAP_DEVICE void format(std::uint64_t rank, std::uint64_t count) const {
    if (rank == 0) out_->format();
    for (std::uint64_t i = rank; i < pages_.count(); i += count) flags_[i] = 0;
  }

  WARPHEAP_DEVICE void inspect(std::uint64_t rank, std::uint64_t count,
                               inspection& findings) const {
    random_walk::inspect_flags(flags_, pages_, rank, count, findings);
  }

  WARPHEAP_HD const random_walk::page_pool& pages() const { return pages_; }
  static constexpr int word_bits = 1;
  /// How it looks for a page, in the survey's rows.
  static constexpr const char* search = "independent";

  /// The same pages; each draw of a thread is counted in `counts[thread_rank()]`.
  WARPHEAP_HD rw<Config, random_walk::counted_steps> counting(std::uint32_t* counts) const {
    return {out_, flags_, pages_, random_walk::counted_steps(counts)};
  }

  /// The number of a page that is now the caller's, or `no_page`.
  WARPHEAP_DEVICE std::uint32_t take_page() const {
    const simt::group team = simt::coalesced(flags_);
    const std::uint32_t page = walk();
    if constexpr (!exact) return page;
    return random_walk::search_pages(
        *out_, team, pages_.count(), page,
        [this](std::uint32_t place) {
          return simt::atomic_ref(flags_[place]).fetch_or(0, simt::order::relaxed) == 0;
        },
        [this](std::uint32_t place) {
          return is_free(place) ? take(place) : random_walk::no_page;
        });
  }

  WARPHEAP_DEVICE void give_page(std::uint32_t page) const {
    // Release pairs with the acquire in `take`: the last owner's accesses come before the next
    // one's.
    if constexpr (exact) {
      // Acquire, and an exchange instead of a store: see `exhaustion`.
      simt::atomic_ref(flags_[page]).exchange(0, simt::order::acq_rel);
      out_->released();
    } else {
      simt::atomic_ref(flags_[page]).store(0, simt::order::release);
    }
  }

 private:
  template <rw_config, class>
  friend class rw;

  WARPHEAP_HD rw(random_walk::shared_rounds* out, std::uint32_t* flags,
                 const random_walk::page_pool& pages, const Steps& steps)
      : out_(out), flags_(flags), pages_(pages), steps_(steps) {}

  static constexpr bool exact = Config.exhaustion == random_walk::exhaustion_rule::exact;
  static constexpr std::uint32_t probe_limit =
      random_walk::probes_until_exhausted(Config.exhaustion, Config.low_water_ppm);
  static constexpr std::uint32_t probes_between_looks = 64;

  WARPHEAP_DEVICE std::uint32_t walk() const {
    random_walk::walk_draws draws;
    for (std::uint32_t probe = 0; probe < probe_limit; ++probe) {
      if (exact && probe % probes_between_looks == 0 && out_->is_out(1)) break;
      steps_.step();
      const std::uint32_t page = draws.next(pages_.count());
      if (is_free(page) && take(page) != random_walk::no_page) return page;
    }
    return random_walk::no_page;
  }

  // A hint: `take` decides.
  WARPHEAP_DEVICE bool is_free(std::uint32_t page) const {
    return simt::atomic_ref(flags_[page]).load(simt::order::relaxed) == 0;
  }

  WARPHEAP_DEVICE std::uint32_t take(std::uint32_t page) const {
    return simt::atomic_ref(flags_[page]).exchange(1, simt::order::acquire) == 0
               ? page
               : random_walk::no_page;
  }

  random_walk::shared_rounds* out_;
  std::uint32_t* flags_;
  random_walk::page_pool pages_;
  // Not [[no_unique_address]]: host and device compilers lay kernel arguments out differently then.
  Steps steps_;
};

WARPHEAP_END_NAMESPACE
