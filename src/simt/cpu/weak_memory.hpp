// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// The atomic words of one schedule as the memory model of C++20 allows them to be seen, and not
/// only as they are in memory.
///
/// An operational model with views, after J. Kang et al., "A Promising Semantics for
/// Relaxed-Memory Concurrency", POPL 2017 (DOI 10.1145/3009837.3009850), without promises, so a
/// load never reads what a later step stores (load buffering is left out), and with the
/// sequentially consistent accesses of O. Lahav et al., "Repairing Sequential Consistency in
/// C/C++11", PLDI 2017 (DOI 10.1145/3062341.3062352).
///
/// - Each word keeps its newest `recent_stores` stores in coherence order, each with a timestamp.
/// - A *view* gives for each word the timestamp below which its owner must not read any more.
///   A lane has a view of what it has seen, one of what an acquire fence would let it see, and one
///   of what it had seen at its last release fence. A store carries the view that it publishes.
/// - A load reads any store that is not older than the lane's view of the word. A store other than
///   the newest is drawn by seed, at most `most_stale_in_a_row` times in a row, so a lane that
///   spins reads the newest store before long.
/// - A store goes to the end of the coherence order or, drawn by seed, before stores that its lane
///   has not seen, as long as it does not come between a read-modify-write and what that one read.
/// - A read-modify-write reads the newest store, also a compare-exchange that fails, because GPUs
///   perform them where the newest value is. (C++ allows a failed one to read an older store.)
/// - A *hint* (`simt::load_hint`) reads any store that is kept, or the word's initial value, that
///   is not older than what is *ordered* before it: what its lane has stored, and what the lane had
///   seen at its last acquire, or members of a barrier at theirs. That is PTX's causality order,
///   which also binds weak loads: an acquire clears the multiprocessor's cache. What a lane has
///   only read relaxed binds no hint, although that order says so, too: nothing clears the cache
///   then. A hint changes no view: it is a weak load, of which no fence makes an acquire. How old
///   hints are is drawn for each schedule (`hint_age`), and no limit makes one new: a loop that
///   waits for a hint can reach the limit of steps.
///
/// Memory itself always holds the newest store of each word. Plain accesses go straight to it: that
/// is exact for accesses that happen-before orders, and the others are data races, which
/// ThreadSanitizer reports. So what a word holds when the first atomic access of a schedule meets
/// it is its initial store, visible to all. A word that holds something other than its newest store
/// was written plainly since: its history restarts with its current value, visible to all.

#include "warpheap/core/random.hpp"
#include "warpheap/simt/types.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace warpheap::runtime_detail {

class weak_memory {
 public:
  /// Stores of a word that can still be read.
  static constexpr std::uint32_t recent_stores = 8;
  static constexpr std::uint32_t most_stale_in_a_row = 8;
  /// The number of stores in one schedule for which timestamps suffice.
  static constexpr std::uint64_t most_stores = 1u << 22;

  explicit weak_memory(std::uint32_t lanes) : views_(lanes) {}

  /// Forgets everything: a schedule begins.
  void begin(std::uint64_t seed);

  // `word` is aligned to its size of 4 or 8 bytes.

  std::uint64_t load(std::uint32_t lane, const void* word, std::uint32_t bytes, simt::order o);
  std::uint64_t hint(std::uint32_t lane, const void* word, std::uint32_t bytes);
  void store(std::uint32_t lane, void* word, std::uint32_t bytes, std::uint64_t value,
             simt::order o);
  /// The load of a read-modify-write that stores nothing.
  void load_newest(std::uint32_t lane, const void* word, std::uint32_t bytes, simt::order o);
  /// A read-modify-write that has found the word as it is in memory, and leaves `value` there.
  void update(std::uint32_t lane, void* word, std::uint32_t bytes, std::uint64_t value,
              simt::order o);
  void fence(std::uint32_t lane, simt::order o);
  /// What each of the lanes has seen, all of them have seen from now on.
  void synchronize(std::span<const std::uint32_t> lanes);

 private:
  using timestamp = std::int32_t;  // signed: compilers find the instructions for its maximum
  /// Where a published view starts in `published_`, or `no_view`.
  using view_place = std::uint32_t;
  static constexpr view_place no_view = 0;
  /// Between neighbours at first, which leaves room for stores that go in between.
  static constexpr timestamp step = 256;

  struct store_record {
    std::uint64_t value;
    timestamp at;
    view_place published;
    /// Nothing may come between this store, a read-modify-write, and the one before it.
    bool follows_directly;
  };
  /// What hints read in a schedule.
  enum class hint_age : std::uint8_t {
    drawn,   ///< each time any store, as ordinary loads do
    cached,  ///< what the first hint of the word has read, as long as a lane may
    oldest,  ///< the oldest store, as if all words had been cached when the kernel began
  };
  static constexpr timestamp no_line = -1;
  struct location {
    std::uint32_t index;
    std::uint32_t count;
    std::array<store_record, recent_stores> stores;  // oldest first
    store_record initial;                            ///< is often no longer among them
    store_record line;                               ///< what the last hint has read

    /// Begins the history with a value that is visible to all.
    void restart(std::uint64_t value, timestamp at);
    store_record& newest() { return stores[count - 1]; }
    /// Makes room at `position`; returns where that is after the oldest store was dropped.
    std::uint32_t open(std::uint32_t position);
  };
  struct lane_views {
    std::vector<timestamp> seen;
    /// What bounds hints: `seen` at the last acquire, and what the lane has stored since.
    std::vector<timestamp> ordered;
    /// In addition to `seen`, after the next acquire fence.
    std::vector<timestamp> acquirable;
    /// What the last release fence published.
    view_place released = no_view;
    std::uint32_t stale_in_a_row = 0;
  };
  struct slot {
    std::uintptr_t word = 0;
    std::uint32_t generation = 0;
    std::uint32_t index = 0;
  };

  location& find(const void* word, std::uint32_t bytes);
  slot& probe(std::uintptr_t word);
  void add_word();
  void grow_table();

  std::uint32_t choose(lane_views& of, const location& in, timestamp floor);
  /// The oldest store that is kept and not older than `floor`.
  static store_record oldest_hint(const location& in, timestamp floor);
  store_record draw_hint(const location& in, const store_record& oldest);
  static void remark_older(const char* how, const location& in, std::uint64_t value);
  /// The lane has read `from`.
  void read(lane_views& reader, const location& in, const store_record& from, simt::order o);
  /// What a store of the lane publishes, of which one that it replaces has published `before`.
  view_place publish(lane_views& writer, const location& in, timestamp at, simt::order o,
                     view_place before);
  view_place keep(const std::vector<timestamp>& view);
  view_place keep_joined(view_place a, view_place b);
  void join(std::vector<timestamp>& into, view_place from) const;

  random_sequence random_{0};
  /// How many of 256 loads that could read an older store do.
  std::uint32_t stale_share_ = 0;
  hint_age hints_ = hint_age::drawn;
  std::uint32_t generation_ = 0;
  std::uint32_t words_ = 0;  // seen in this schedule; views have as many timestamps in use
  std::vector<slot> table_ = std::vector<slot>(1024);
  std::vector<location> locations_;
  std::vector<lane_views> views_;
  /// What sequentially consistent fences and stores have published.
  std::vector<timestamp> sequential_;
  /// Views that stores published: a length, and as many timestamps.
  std::vector<timestamp> published_;
};

}  // namespace warpheap::runtime_detail
