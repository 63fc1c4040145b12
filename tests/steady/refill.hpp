// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

/// \file
/// How much a heap holds, found out by filling it: what a manager has lost is missing, whatever its
/// own books say.

#include "conformance/kernels.hpp"
#include "warpheap/heap/heap.hpp"

#include "device_array.hpp"
#include "machine.hpp"
#include "steady_limits.hpp"  // those of all folders of managers, made by CMake

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {

/// What was found when a heap was filled with blocks of one size, and emptied.
struct filling {
  std::uint64_t blocks = 0;
  std::uint64_t corrupted = 0;
};

/// Fills an empty heap: up to `lanes` lanes ask until they get null, and then a lone one, as no
/// other lane can hide anything from it. Then all is checked and freed.
template <class M>
filling fill_and_empty(const device& on, const heap<M>& memory, std::uint64_t lanes) {
  const std::uint64_t bytes = std::min<std::uint64_t>(refill<M>::bytes, memory.largest_block());
  // Each lane that finishes asks once in vain, which may be a search of everything.
  constexpr std::uint64_t most_lanes = 128;
  const std::uint64_t room = memory.bytes() / bytes + 1;
  const device_array<void*> blocks(room);
  const device_array<tally> found(1);
  const fill_up<handle<M>> fill{memory.ref(), bytes, blocks.get(), room, found.get()};
  on.launch(covering(std::min({lanes, most_lanes, room})), fill);
  on.launch({1, 1}, fill);
  on.synchronize();
  const std::uint64_t count = std::min(found.read().front().blocks, room);
  std::vector<std::uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const device_array<std::uint64_t> sizes(std::vector<std::uint64_t>(count, bytes));
  const device_array<std::uint64_t> whose(order);
  if (count != 0) {
    on.launch(covering(count), check_and_free<handle<M>>{memory.ref(), sizes.get(), blocks.get(),
                                                         whose.get(), count, found.get()});
  }
  on.synchronize();
  return {count, found.read().front().corrupted};
}

/// What is wrong with an emptied heap that held `before` when it was new; empty if nothing is.
template <class M>
std::string wrong_with(const filling& now, const filling& before) {
  std::string why;
  if (now.corrupted + before.corrupted != 0) why += "wrong contents when it was filled; ";
  if (static_cast<double>(now.blocks) < refill<M>::share * static_cast<double>(before.blocks)) {
    why += "it holds " + std::to_string(now.blocks) + " blocks of the " +
           std::to_string(before.blocks) + " that it held when it was new; ";
  }
  return why;
}

}  // namespace test
WARPHEAP_END_NAMESPACE
