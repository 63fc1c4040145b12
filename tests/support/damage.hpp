// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a manager's inspection says of damage: a correct manager never breaks an invariant, so
/// nothing else shows that one is looked at. CPU model only.

#include "take_and_give.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/heap/failure.hpp"
#include "warpheap/heap/inspection.hpp"

#include <gtest/gtest.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <ostream>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A heap in memory of the test's own.
template <class M>
class exposed_heap {
 public:
  /// \param bytes what the heap gets, not counting its counts of failed requests: those alone are
  ///   larger than some of these heaps.
  explicit exposed_heap(std::size_t bytes)
      : memory_(filled(round_up(bytes + sizeof(failure_counts), alignment))),
        heap_(newly_started(), region{memory_.get(), bytes + sizeof(failure_counts)}),
        words_(bytes / sizeof(std::uint32_t)) {}

  const warpheap::heap<M>& heap() const { return heap_; }

  /// What an inspection says about an invariant when each word by itself is changed.
  struct answer {
    int words;       // that break it by one of the changes
    int violations;  // of it, by all changes
    bool operator==(const answer&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const answer& a) {
      return out << '{' << a.words << ", " << a.violations << '}';
    }
  };
  using answers = std::map<int, answer>;

  /// For each invariant, by its number, that some word breaks: by the change of one of `bits`, or
  /// when it is one more, one less, or any of the first numbers: a bound that is off by one shows.
  answers guarded_words(std::uint32_t bits) const {
    answers all;
    auto* const first = reinterpret_cast<std::uint32_t*>(memory_.get());
    for (std::uint32_t* word = first; word != first + words_; ++word) {
      const std::uint32_t before = *word;
      inspection found;
      const auto changed = [&](std::uint32_t now) {
        *word = now;
        heap_.ref().manager().inspect(0, 1, found);
        *word = before;
      };
      for (std::uint32_t left = bits; left != 0; left &= left - 1) {
        changed(before ^ (left & (0 - left)));
      }
      changed(before + 1);
      changed(before - 1);
      for (std::uint32_t number = 0; number < first_numbers; ++number) changed(number);
      for (int i = 0; i < inspection::most_invariants; ++i) {
        if (found.violations[i] == 0) continue;
        ++all[i + 1].words;
        all[i + 1].violations += static_cast<int>(found.violations[i]);
      }
    }
    return all;
  }

 private:
  static constexpr std::size_t alignment = 4096;

  /// The noise of lanes follows from how many launches their machine has had: on one of its own,
  /// a heap is the same whatever ran before.
  static device newly_started() { return device::cpu(simt::cpu_options{.workers = 2}); }

  static constexpr std::uint32_t first_numbers = 18;  // as large as many counts of small heaps
  struct release {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  /// Nothing may depend on what is in fresh memory.
  static std::byte* filled(std::size_t bytes) {
    return static_cast<std::byte*>(std::memset(std::aligned_alloc(alignment, bytes), 0xcd, bytes));
  }

  std::unique_ptr<std::byte, release> memory_;
  warpheap::heap<M> heap_;
  std::size_t words_;
};

inline constexpr const char* counted_elsewhere =
    "counts are the same without AddressSanitizer; warpheap-verify damage looks for bad accesses";

/// What an inspection says about a heap from which blocks of each of `sizes` were taken and some of
/// them given back: nothing is wrong, and a change of `bits` of its words breaks these invariants.
/// \param bytes as `exposed_heap` takes them
template <class M>
void expect_damage_is_seen(std::size_t bytes, std::initializer_list<std::size_t> sizes,
                           const typename exposed_heap<M>::answers& expected,
                           std::uint32_t bits = ~0u) {
  if (race_checked) GTEST_SKIP() << "inspections are those of a single host thread";
  if (address_checked) GTEST_SKIP() << counted_elsewhere;
  const exposed_heap<M> subject(bytes);
  for (const std::size_t size : sizes) {
    take(subject.heap(), size, 2);
    give(subject.heap(), take(subject.heap(), size, 3));
  }
  expect_valid(subject.heap());
  EXPECT_EQ(subject.guarded_words(bits), expected);
  expect_valid(subject.heap());
}

}  // namespace test
WARPHEAP_END_NAMESPACE
