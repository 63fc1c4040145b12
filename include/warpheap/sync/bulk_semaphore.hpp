// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// A bulk semaphore: hands units out, and tells the caller when it is its turn to make more of them
/// in a batch (I. Gelado, M. Garland, "Throughput-oriented GPU memory allocation", PPoPP 2019,
/// 10.1145/3293883.3295727; used by M. Winter et al., "Ouroboros", ICS 2020).
///
/// Three numbers: C units are there, E units are being made, and callers that wait for those want R
/// units. C + E - R is the expected availability. One 64-bit word holds all of it:
///
///     63            36 35               0
///     [ E - R, signed ][ C, biased 2^35 ]
///
/// Only the difference of E and R is ever read, so only that is kept: 28 bits hold 134 million
/// waiting units, and 36 bits for C hold every 16-byte page of a 550 GB heap.
///
/// No operation is a compare-exchange loop: for ten thousand callers on one word, such loops would
/// take time in proportion to the square of that number. Instead, a caller subtracts what it wants
/// and looks at the word that it found. If its subtraction takes the expected availability below a
/// multiple of the batch size, it must make that batch; the callers in between rely on it. Undoing
/// takes one addition.
///
/// Progress: every operation except `await` is wait-free. `await` returns when units are there, or
/// after a bounded number of looks at a word that promises too few. While enough is promised, each
/// unit waited for is being made by a caller between `promise` and `deliver`, which never waits.
///
/// Orders: additions of units release (what a unit stands for was written before); operations that
/// may grant units acquire. All others only do the accounting and are relaxed.

#include "warpheap/core/align.hpp"
#include "warpheap/simt/simt.hpp"

#include <cstdint>

WARPHEAP_BEGIN_NAMESPACE
namespace sync {

class bulk_semaphore {
 public:
  static constexpr int count_bits = 36;
  static constexpr std::int64_t most_units = std::int64_t{1} << (count_bits - 1);

  /// What the word says.
  struct reading {
    /// C. Briefly negative, while callers have subtracted more than there was.
    std::int64_t count;
    /// E - R.
    std::int64_t balance;
    WARPHEAP_HD std::int64_t expected() const { return count + balance; }
  };

  /// The answer to `ask`. `granted` units belong to the caller. If some are `missing`, exactly one
  /// of `decline`, `promise` and `await` must follow.
  struct answer {
    std::uint32_t granted;
    std::uint32_t missing;
    /// Batches that it is the caller's turn to make; at most enough for `missing`.
    std::uint32_t batches;
    /// Others are making what is missing. Otherwise, the caller can only hope that those whose turn
    /// it is will make it.
    bool covered;
  };

  WARPHEAP_DEVICE explicit bulk_semaphore(std::uint64_t& word) : word_(word) {}

  /// The word of a semaphore with `count` units, of which no caller makes more.
  WARPHEAP_HD static constexpr std::uint64_t initial(std::uint64_t count) { return count + bias; }

  WARPHEAP_HD static reading decode(std::uint64_t word) {
    return {static_cast<std::int64_t>(word & (2 * bias - 1)) - static_cast<std::int64_t>(bias),
            static_cast<std::int64_t>(word) >> count_bits};
  }

  /// \param how acquire if the caller looks elsewhere for what has left the semaphore
  WARPHEAP_DEVICE reading read(simt::order how = simt::order::relaxed) const {
    return decode(word_.load(how));
  }

  /// Adds `units`.
  WARPHEAP_DEVICE void signal(std::uint64_t units) const {
    word_.fetch_add(delta(static_cast<std::int64_t>(units), 0), simt::order::release);
  }

  /// Takes as many of `units` as there are, without waiting or growing. Returns how many.
  WARPHEAP_DEVICE std::uint32_t take_up_to(std::uint32_t units) const {
    const std::uint32_t granted = clamp(subtract(units).count, units);
    if (granted < units) put_back(units - granted);
    return granted;
  }

  /// Takes up to `units` away for a while. Until `deliver` says what became of them, they count as
  /// expected, so that no other caller believes that units are used up that may come back. Returns
  /// how many.
  WARPHEAP_DEVICE std::uint32_t borrow_up_to(std::uint32_t units) const {
    const auto wanted = static_cast<std::int64_t>(units);
    const reading before = decode(word_.fetch_add(delta(-wanted, wanted), simt::order::acquire));
    const std::uint32_t granted = clamp(before.count, units);
    if (granted < units) return_borrowed(units - granted);
    return granted;
  }

  /// Borrows all `units` or none.
  WARPHEAP_DEVICE bool borrow_all(std::uint32_t units) const {
    const std::uint32_t granted = borrow_up_to(units);
    if (granted == units) return true;
    if (granted != 0) return_borrowed(granted);
    return false;
  }

  /// Asks for `units`, which are made in batches of `batch`.
  /// \param in_vain the caller has waited, and `await` gave up. The callers on which it relied have
  ///   failed, or rely on it: unless enough is expected now, it is its turn.
  WARPHEAP_DEVICE answer ask(std::uint32_t units, std::uint32_t batch, bool in_vain = false) const {
    const reading before = subtract(units);
    answer result{clamp(before.count, units), 0, 0, true};
    result.missing = units - result.granted;
    if (result.missing == 0) return result;
    const std::int64_t after = before.expected() - static_cast<std::int64_t>(units);
    const std::int64_t turn = batches_below(after, batch) - batches_below(before.expected(), batch);
    const std::int64_t need = batches_below(-static_cast<std::int64_t>(result.missing), batch);
    result.covered = after >= 0;
    const bool all = turn > need || (in_vain && !result.covered);
    result.batches = static_cast<std::uint32_t>(all ? need : turn);
    return result;
  }

  /// Gives up what is missing. True if units are there or expected after all: ask again. False
  /// means that, at this moment, every unit was taken. Acquire: the caller may look next where
  /// units have gone that are no longer expected.
  WARPHEAP_DEVICE bool decline(const answer& asked) const {
    return put_back(asked.missing, simt::order::acquire).expected() > 0;
  }

  /// Undertakes to make `asked.batches` batches. The caller keeps the first units of them for
  /// itself; the result says how many, at most `asked.missing`. `deliver` must follow.
  WARPHEAP_DEVICE std::uint32_t promise(const answer& asked, std::uint32_t batch) const {
    const std::uint64_t made = std::uint64_t{asked.batches} * batch;
    const std::uint32_t kept =
        made < asked.missing ? static_cast<std::uint32_t>(made) : asked.missing;
    word_.fetch_add(delta(asked.missing, static_cast<std::int64_t>(made - kept)),
                    simt::order::relaxed);
    return kept;
  }

  /// Ends a promise: of the `promised` units for others, `made` are there. Or ends a loan: of the
  /// `promised` units that were borrowed, `made` are back.
  WARPHEAP_DEVICE void deliver(std::uint64_t promised, std::uint64_t made) const {
    word_.fetch_add(delta(static_cast<std::int64_t>(made), -static_cast<std::int64_t>(promised)),
                    simt::order::release);
  }

  /// Waits for what is missing. Returns how many units were granted, at most `asked.missing`; 0 if
  /// it gave up, because fewer units are expected than callers wait for.
  WARPHEAP_DEVICE std::uint32_t await(const answer& asked) const {
    const auto units = static_cast<std::int64_t>(asked.missing);
    word_.fetch_add(delta(units, -units), simt::order::relaxed);
    std::uint32_t pause = shortest_pause;
    for (std::uint32_t hopeless = 0; hopeless < patience;) {
      const reading now = read();
      if (now.count > 0) {
        const reading before = decode(word_.fetch_add(delta(-units, units), simt::order::acquire));
        const std::uint32_t granted = clamp(before.count, asked.missing);
        if (granted != 0) {
          if (granted < asked.missing) put_back(asked.missing - granted);
          return granted;
        }
        word_.fetch_add(delta(units, -units), simt::order::relaxed);
      } else if (now.expected() < 0) {
        // Either a maker has failed, or one has not yet promised what it will make.
        ++hopeless;
      }
      simt::backoff(pause);
      pause = pause < longest_pause ? 2 * pause : longest_pause;
    }
    word_.fetch_add(delta(0, units), simt::order::relaxed);
    return 0;
  }

 private:
  static constexpr std::uint64_t bias = std::uint64_t{1} << (count_bits - 1);
  // Nanoseconds: about the time of one atomic, and of making one batch.
  static constexpr std::uint32_t shortest_pause = 250;
  static constexpr std::uint32_t longest_pause = 2000;
  static constexpr std::uint32_t patience = 8;

  WARPHEAP_HD static constexpr std::uint64_t delta(std::int64_t count, std::int64_t balance) {
    return (static_cast<std::uint64_t>(balance) << count_bits) + static_cast<std::uint64_t>(count);
  }

  /// The number of batches that lift `availability` to 0 or above. What is missing fits into the 28
  /// bits of E - R, so a 32-bit division is enough.
  WARPHEAP_HD static constexpr std::int64_t batches_below(std::int64_t availability,
                                                          std::uint32_t batch) {
    if (availability >= 0) return 0;
    return ceil_div(static_cast<std::uint32_t>(-availability), batch);
  }

  WARPHEAP_HD static constexpr std::uint32_t clamp(std::int64_t count, std::uint32_t units) {
    if (count <= 0) return 0;
    return count < static_cast<std::int64_t>(units) ? static_cast<std::uint32_t>(count) : units;
  }

  WARPHEAP_DEVICE reading subtract(std::uint32_t units) const {
    return decode(
        word_.fetch_add(delta(-static_cast<std::int64_t>(units), 0), simt::order::acquire));
  }

  /// Relaxed: these units were not used.
  WARPHEAP_DEVICE void return_borrowed(std::uint32_t units) const {
    const auto count = static_cast<std::int64_t>(units);
    word_.fetch_add(delta(count, -count), simt::order::relaxed);
  }

  /// Returns the state afterwards.
  WARPHEAP_DEVICE reading put_back(std::uint32_t units,
                                   simt::order how = simt::order::relaxed) const {
    reading state = decode(word_.fetch_add(delta(units, 0), how));
    state.count += units;
    return state;
  }

  simt::atomic_ref<std::uint64_t> word_;
};

}  // namespace sync
WARPHEAP_END_NAMESPACE
