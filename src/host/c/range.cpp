// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/host/c/range.h"

#include <string>

#include "status.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/host/pools/offset_range.hpp"

struct warpheap_range {
  warpheap::host::offset_range range;
};

namespace {

using namespace warpheap::host;

// Out of line, so that calls that succeed do not pay for the messages.
[[gnu::noinline]] warpheap_status refuse_request(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes == 0) return failed(WARPHEAP_INVALID_ARGUMENT, "a block of 0 bytes was requested");
  if (!warpheap::is_power_of_two(alignment)) {
    return failed(WARPHEAP_INVALID_ARGUMENT, "an alignment of " + std::to_string(alignment) +
                                                 " bytes: it must be a power of two");
  }
  return failed(WARPHEAP_OUT_OF_MEMORY, "no hole of the range has " + std::to_string(bytes) +
                                            " bytes at a multiple of " + std::to_string(alignment));
}

// With the arguments of its caller, which then moves none.
[[gnu::noinline, gnu::used]] warpheap_status refuse_handle(warpheap_range* /*unused*/,
                                                           std::uint64_t handle) {
  return failed(WARPHEAP_INVALID_ARGUMENT, "the handle " + std::to_string(handle) +
                                               " is not of a live block of this range: it was "
                                               "freed before, or comes from elsewhere");
}

// Member by member: the compiler would copy the whole with loads that wait for two smaller stores.
warpheap_status hand_over(const warpheap_range_block& made, warpheap_range_block* block) {
  block->offset = made.offset;
  block->bytes = made.bytes;
  block->handle = made.handle;
  return WARPHEAP_OK;
}

[[gnu::noinline]] warpheap_status allocate_rare(warpheap_range* range, uint64_t bytes,
                                                uint64_t alignment, warpheap_range_block* block) {
  if (!warpheap::is_power_of_two(alignment)) return refuse_request(bytes, alignment);
  const warpheap_range_block made = range->range.allocate(bytes, alignment);
  if (made.bytes == 0) return refuse_request(bytes, alignment);
  return hand_over(made, block);
}

[[gnu::noinline, gnu::flatten]] warpheap_status allocate_other(warpheap_range* range,
                                                               uint64_t granules,
                                                               uint16_t size_class,
                                                               warpheap_range_block* block) {
  const offset_range::needs wanted{granules, size_class};
  const warpheap_range_block made = range->range.allocate_other(wanted);
  if (made.bytes == 0) {
    return allocate_rare(range, range->range.bytes_of(wanted), range->range.granule(), block);
  }
  return hand_over(made, block);
}

[[gnu::noinline, gnu::flatten]] warpheap_status put_between_holes(warpheap_range* range,
                                                                  offset_range::index which) {
  range->range.put_between_holes(which);
  return WARPHEAP_OK;
}

}  // namespace

extern "C" {

warpheap_status warpheap_range_create(uint64_t bytes, size_t granule_bytes,
                                      warpheap_range** range) {
  return guarded([&] {
    const size_t granule = granule_bytes != 0 ? granule_bytes : offset_range::default_granule;
    *range = new warpheap_range{offset_range(bytes, granule)};
  });
}

void warpheap_range_destroy(warpheap_range* range) { delete range; }

// In three functions, each of which saves no more registers than it needs: in some programs, three
// of four requests find a block that fits exactly.
[[gnu::flatten]] warpheap_status warpheap_range_allocate(warpheap_range* range, uint64_t bytes,
                                                         uint64_t alignment,
                                                         warpheap_range_block* block) {
  if (!range->range.is_plain(bytes, alignment)) {
    return allocate_rare(range, bytes, alignment, block);
  }
  const auto wanted = range->range.needs_of(bytes);
  const warpheap_range_block made = range->range.allocate_exact(wanted);
  if (made.bytes == 0) return allocate_other(range, wanted.bytes, wanted.size_class, block);
  return hand_over(made, block);
}

// Nor does a free save registers for the rarest case, which needs most of them.
[[gnu::flatten]] warpheap_status warpheap_range_free(warpheap_range* range, uint64_t handle) {
  const offset_range::index which = range->range.take_back(handle);
  if (which == offset_range::none) return refuse_handle(range, handle);
  if (range->range.lies_between_holes(which)) return put_between_holes(range, which);
  range->range.put_back(which);
  return WARPHEAP_OK;
}

void warpheap_range_get_stats(const warpheap_range* range, warpheap_range_stats* stats) {
  *stats = range->range.stats();
}

warpheap_status warpheap_range_check(const warpheap_range* range) {
  const auto wrong = range->range.check();
  return wrong ? failed(WARPHEAP_ERROR, *wrong) : WARPHEAP_OK;
}

}  // extern "C"
