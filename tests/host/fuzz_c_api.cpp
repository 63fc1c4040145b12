// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer over the C interface: the input is a program of calls, checked against a model.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz_model.hpp"
#include "warpheap/host/c/pool.h"

using warpheap::test::expect;
using warpheap::test::model;

namespace {

const std::vector<std::string>& policies() {
  static const auto names = [] {
    std::istringstream text(warpheap_pool_names());
    std::vector<std::string> all{std::istream_iterator<std::string>(text), {}};
    std::erase_if(all, [](const std::string& name) { return name.rfind("cuda_", 0) == 0; });
    return all;
  }();
  return names;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string& policy = policies()[data[0] % policies().size()];
  const bool in_pages = data[1] % 2 != 0;
  // Room for 16 pages, so that some of them must move.
  const warpheap_pool_options options{0,
                                      std::size_t{1} << (in_pages ? 25 : 22),
                                      std::size_t{1} << (16 + data[1] % 5),
                                      std::size_t{16} << data[1] / 64 * 2,
                                      1,
                                      1 + data[0] / policies().size() % 3};
  warpheap_pool* pool = nullptr;
  const char* upstream = in_pages ? "reserved_pages" : "reserved";
  expect(warpheap_pool_create(policy.c_str(), upstream, 0, &options, &pool) == WARPHEAP_OK);
  model held;
  for (std::size_t at = 2; at + 3 < size; at += 4) {
    const std::uint8_t* step = data + at;
    const std::size_t number = step[1] | step[2] << 8;
    const std::uintptr_t stream = (step[3] % 4) * 0x1000;
    const bool quick = step[3] >= 128;
    if (step[0] < 120 || held.empty()) {
      // Mostly small sizes, some large ones; alignments up to 64 KiB.
      const std::size_t bytes = number << (step[0] % 8);
      const std::size_t alignment = std::size_t{1} << (step[3] >> 2) % 17;
      void* memory =
          quick ? warpheap_pool_allocate_quickly(pool, bytes, alignment, stream) : nullptr;
      const warpheap_status got =
          memory != nullptr ? WARPHEAP_OK
                            : warpheap_pool_allocate(pool, bytes, alignment, stream, &memory);
      expect(got == WARPHEAP_OK || got == WARPHEAP_OUT_OF_MEMORY);
      if (got != WARPHEAP_OK || bytes == 0) continue;
      const std::size_t usable = warpheap_pool_usable_bytes(pool, memory);
      expect(usable >= bytes && reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
      held.add(reinterpret_cast<std::uintptr_t>(memory), usable);
    } else if (step[0] < 220) {
      const std::uintptr_t base = held.pick(number);
      void* memory = reinterpret_cast<void*>(base);
      expect((quick && warpheap_pool_deallocate_quickly(pool, memory, stream) != 0) ||
             warpheap_pool_deallocate(pool, memory, stream) == WARPHEAP_OK);
      held.remove(base);
      expect(warpheap_pool_deallocate_quickly(pool, memory, stream) == 0);
      expect(warpheap_pool_deallocate(pool, memory, stream) == WARPHEAP_INVALID_ARGUMENT);
    } else if (step[0] < 235) {
      const std::uintptr_t base = held.pick(number);
      std::size_t taken = 0;
      if (warpheap_pool_truncate(pool, reinterpret_cast<void*>(base), 1 + number, &taken) ==
          WARPHEAP_OK) {
        held.cut(base, taken);
      }
    } else if (step[0] < 245) {
      // An address inside a block, or behind it, where the next one may begin.
      const std::uintptr_t base = held.pick(number) + 1 + step[3];
      if (held.has(base)) continue;
      expect(warpheap_pool_deallocate(pool, reinterpret_cast<void*>(base), stream) ==
             WARPHEAP_INVALID_ARGUMENT);
    } else {
      warpheap_pool_trim(pool, number << 8);
    }
  }
  warpheap_pool_stats stats{};
  warpheap_pool_get_stats(pool, &stats);
  expect(stats.blocks == held.count());
  expect(warpheap_pool_check(pool) == WARPHEAP_OK);
  while (!held.empty()) {
    const std::uintptr_t base = held.pick(0);
    expect(warpheap_pool_deallocate(pool, reinterpret_cast<void*>(base), 0) == WARPHEAP_OK);
    held.remove(base);
  }
  warpheap_pool_trim(pool, 0);
  warpheap_pool_get_stats(pool, &stats);
  expect(stats.bytes_in_use == 0 && stats.reserved_bytes == 0);
  warpheap_pool_destroy(pool);
  return 0;
}
