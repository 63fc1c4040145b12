// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "bench/backend/machine.hpp"
#include "warpheap/core/bits.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace backend {

/// The machine of the CPU model, whose device memory the host reads as its own.
class cpu_machine : public local_machine {
 public:
  using local_machine::local_machine;

  void* allocate_pooled(std::size_t bytes) override { return allocate(bytes); }
  void deallocate_pooled(void* pointer, std::size_t bytes) noexcept override {
    deallocate(pointer, bytes);
  }

  void exclusive_scan(std::uint64_t* numbers, std::uint64_t count) override {
    std::exclusive_scan(numbers, numbers + count, numbers, std::uint64_t{0});
  }

  double sort(const bench::columns& from, const bench::columns& to, std::uint64_t count,
              int first_bit, int end_bit) override {
    const auto start = std::chrono::steady_clock::now();
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs(count);
    for (std::uint64_t i = 0; i < count; ++i) pairs[i] = {from.keys[i], from.values[i]};
    const auto digit = [=](std::uint32_t key) {
      return key >> first_bit & low_bits<std::uint32_t>(end_bit - first_bit);
    };
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](const auto& a, const auto& b) { return digit(a.first) < digit(b.first); });
    for (std::uint64_t i = 0; i < count; ++i) std::tie(to.keys[i], to.values[i]) = pairs[i];
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return took.count();
  }
};

}  // namespace backend
WARPHEAP_END_NAMESPACE
