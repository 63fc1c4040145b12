// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What a manager's inspection says of damage: a correct manager never breaks an invariant, so
/// nothing else shows that one is looked at. CPU model only.

#include "take_and_give.hpp"

#include "warpheap/core/align.hpp"
#include "warpheap/heap/inspection.hpp"

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// A heap in memory of the test's own.
template <class M>
class exposed_heap {
 public:
  explicit exposed_heap(std::size_t bytes)
      : memory_(filled(round_up(bytes, alignment))),
        heap_(machine(), region{memory_.get(), bytes}),
        words_(bytes / sizeof(std::uint32_t)) {}

  const warpheap::heap<M>& heap() const { return heap_; }

  /// For each invariant, by its number: how many words break it by the change of one of `bits`.
  std::map<int, int> guarded_words(std::uint32_t bits) const {
    std::map<int, int> words;
    auto* const first = reinterpret_cast<std::uint32_t*>(memory_.get());
    for (std::uint32_t* word = first; word != first + words_; ++word) {
      inspection found;
      for (std::uint32_t left = bits; left != 0; left &= left - 1) {
        const std::uint32_t bit = left & (0 - left);
        *word ^= bit;
        heap_.ref().manager().inspect(0, 1, found);
        *word ^= bit;
      }
      for (int i = 0; i < inspection::most_invariants; ++i) {
        if (found.violations[i] != 0) ++words[i + 1];
      }
    }
    return words;
  }

 private:
  static constexpr std::size_t alignment = 4096;
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

}  // namespace test
WARPHEAP_END_NAMESPACE
