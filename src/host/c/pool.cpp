// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "warpheap/host/c/pool.h"

#include <memory>
#include <string>

#include "../make_named.hpp"
#include "pool.hpp"
#include "warpheap/host/policies/registry.hpp"

namespace {

using namespace warpheap;
using namespace warpheap::host;

host::pool_options options_from(const warpheap_pool_options* given) {
  host::pool_options options;
  if (given == nullptr) return options;
  options.initial_bytes = given->initial_bytes;
  if (given->limit_bytes != 0) options.limit_bytes = given->limit_bytes;
  if (given->region_bytes != 0) options.region_bytes = given->region_bytes;
  if (given->granule_bytes != 0) options.granule_bytes = given->granule_bytes;
  options.spare_percent = given->spare_percent;
  return options;
}

}  // namespace

extern "C" {

const char* warpheap_pool_names(void) {
  static const std::string names = policy_names() + " " + driver_allocator_names;
  return names.c_str();
}

const char* warpheap_upstream_names(void) { return upstream_names; }

warpheap_status warpheap_pool_create(const char* policy, const char* upstream, int device,
                                     const warpheap_pool_options* options, warpheap_pool** pool) {
  return guarded([&] {
    const std::size_t parts = options != nullptr && options->parts != 0 ? options->parts : 1;
    *pool = new warpheap_pool{make_named(policy, upstream, device, options_from(options), parts)};
  });
}

void warpheap_pool_destroy(warpheap_pool* pool) { delete pool; }

warpheap_status warpheap_pool_allocate(warpheap_pool* pool, size_t bytes, size_t alignment,
                                       uintptr_t stream, void** memory) {
  return guarded([&] { *memory = pool->pool->allocate(bytes, alignment, stream_id{stream}); });
}

warpheap_status warpheap_pool_deallocate(warpheap_pool* pool, void* memory, uintptr_t stream) {
  return guarded([&] { pool->pool->deallocate(memory, stream_id{stream}); });
}

// No exception but one of no host memory is possible, and that one leaves nothing done either.
void* warpheap_pool_allocate_quickly(warpheap_pool* pool, size_t bytes, size_t alignment,
                                     uintptr_t stream) {
  void* memory = nullptr;
  if (pool == nullptr) return memory;
  guarded([&] { memory = pool->pool->allocate_quickly(bytes, alignment, stream_id{stream}); });
  return memory;
}

int warpheap_pool_deallocate_quickly(warpheap_pool* pool, void* memory, uintptr_t stream) {
  bool done = false;
  guarded(
      [&] { done = pool != nullptr && pool->pool->deallocate_quickly(memory, stream_id{stream}); });
  return done;
}

warpheap_status warpheap_pool_truncate(warpheap_pool* pool, void* memory, size_t bytes,
                                       size_t* taken) {
  return guarded([&] { *taken = pool->pool->truncate(memory, bytes); });
}

size_t warpheap_pool_usable_bytes(warpheap_pool* pool, void* memory) {
  return pool->pool->usable_bytes(memory);
}

void warpheap_pool_get_stats(warpheap_pool* pool, warpheap_pool_stats* stats) {
  *stats = pool->pool->stats();
}

size_t warpheap_pool_trim(warpheap_pool* pool, size_t keep_bytes) {
  return pool->pool->trim(keep_bytes);
}

warpheap_status warpheap_pool_check(warpheap_pool* pool) {
  const auto wrong = pool->pool->check();
  return wrong ? failed(WARPHEAP_ERROR, *wrong) : WARPHEAP_OK;
}

}  // extern "C"
