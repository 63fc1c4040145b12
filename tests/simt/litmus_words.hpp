// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// What litmus tests are written with on both models: words, registers, and sets of outcomes.

#include "warpheap/simt/simt.hpp"

#include <cstdint>
#include <set>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

using simt::order;
using enum simt::order;
using outcome = std::vector<int>;
using outcomes = std::set<outcome>;

/// One word, with the operations that litmus tests are written in.
class cell {
 public:
  cell() = default;
  explicit cell(int value) : value_(value) {}

  WARPHEAP_DEVICE void store(int value, order o) { word().store(value, o); }
  WARPHEAP_DEVICE int load(order o) { return word().load(o); }
  WARPHEAP_DEVICE int hint() { return simt::load_hint(value_); }
  WARPHEAP_DEVICE int add(int value, order o) { return word().fetch_add(value, o); }
  WARPHEAP_DEVICE int exchange(int value, order o) { return word().exchange(value, o); }
  /// What is in memory, which is the newest store.
  WARPHEAP_HD int final() const { return value_; }
  WARPHEAP_DEVICE void clear() { value_ = 0; }

 private:
  WARPHEAP_DEVICE simt::atomic_ref<int> word() { return simt::atomic_ref<int>(value_); }
  alignas(8) int value_ = 0;
};

/// The words and the registers of a litmus test.
struct litmus {
  cell x, y;
  int r[4] = {};
};

/// Sets register i. An index that the compiler does not know would put all of them into memory, and
/// the lane would wait there for the value.
WARPHEAP_DEVICE inline void keep(int (&registers)[4], int i, int value) {
  registers[0] = i == 0 ? value : registers[0];
  registers[1] = i == 1 ? value : registers[1];
  registers[2] = i == 2 ? value : registers[2];
  registers[3] = i == 3 ? value : registers[3];
}

/// Every outcome of `registers` registers of 0 or 1, but for those `without`.
inline outcomes all_but(int registers, const outcomes& without) {
  outcomes all;
  for (int bits = 0; bits < 1 << registers; ++bits) {
    outcome one;
    for (int i = registers - 1; i >= 0; --i) one.push_back(bits >> i & 1);
    if (!without.contains(one)) all.insert(one);
  }
  return all;
}

inline outcome two_registers(const litmus& s) { return {s.r[0], s.r[1]}; }
inline outcome four_registers(const litmus& s) { return {s.r[0], s.r[1], s.r[2], s.r[3]}; }

/// What most litmus tests have in common: threads in blocks of their own, and two registers. A test
/// derives from it, says what is different, and has `lane(state, i)`, the program of thread i.
struct two_blocks {
  static constexpr std::uint32_t blocks = 2;
  static constexpr std::uint32_t lanes = 1;
  static outcome observed(const litmus& s) { return two_registers(s); }
};

// In most of them, the second register is read later, and what it must not have is an older value.
inline const outcomes in_order = all_but(2, {{1, 0}});
inline const outcomes too_old{{1, 0}};
inline const outcomes none{};

}  // namespace test
WARPHEAP_END_NAMESPACE
