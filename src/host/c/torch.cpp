// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that PyTorch's pluggable allocator calls.
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pool.hpp"
#include "warpheap/core/error.hpp"
#include "warpheap/host/c/torch.h"
#include "warpheap/host/resources/pool_resource.hpp"

namespace {

using namespace warpheap;
using namespace warpheap::host;

constexpr int device_count = 64;

// Release and acquire: a thread that sees a pool sees the pool made.
std::array<std::atomic<warpheap_pool*>, device_count> pools;

// The further streams in which a block is used, for the few blocks that have any.
struct recorded_streams {
  std::mutex lock;
  std::unordered_map<void*, std::vector<stream_id>> of_block;
  // Relaxed: only avoids the lock; the caller orders a block's record and free.
  std::atomic<std::size_t> blocks{0};
};

recorded_streams& recorded() {
  // Never destroyed: blocks are freed while the process exits.
  static auto* const streams = new recorded_streams;
  return *streams;
}

pool_interface& pool_of(int device) {
  warpheap_pool* pool =
      device >= 0 && device < device_count
          ? pools[static_cast<std::size_t>(device)].load(std::memory_order_acquire)
          : nullptr;
  if (pool == nullptr) {
    throw invalid_argument("no pool was set for device " + std::to_string(device));
  }
  return *pool->pool;
}

void wait_for_recorded(pool_interface& pool, void* memory, stream_id stream) {
  recorded_streams& all = recorded();
  if (all.blocks.load(std::memory_order_relaxed) == 0) return;
  std::vector<stream_id> others;
  {
    const std::lock_guard guard(all.lock);
    const auto found = all.of_block.find(memory);
    if (found == all.of_block.end()) return;
    others = std::move(found->second);
    all.of_block.erase(found);
    all.blocks.store(all.of_block.size(), std::memory_order_relaxed);
  }
  for (const stream_id other : others) pool.order(other, stream);
}

}  // namespace

extern "C" {

warpheap_status warpheap_torch_use(int device, warpheap_pool* pool) {
  return warpheap::host::guarded([&] {
    if (device < 0 || device >= device_count) {
      throw invalid_argument("device " + std::to_string(device) + ": the number must be below " +
                             std::to_string(device_count));
    }
    pools[static_cast<std::size_t>(device)].store(pool, std::memory_order_release);
  });
}

void* warpheap_torch_allocate(ptrdiff_t bytes, int device, void* stream) {
  return pool_of(device).allocate(static_cast<std::size_t>(bytes), 1, id_of(stream));
}

void warpheap_torch_deallocate(void* memory, ptrdiff_t, int device, void* stream) {
  if (memory == nullptr) return;
  pool_interface& pool = pool_of(device);
  wait_for_recorded(pool, memory, id_of(stream));
  pool.deallocate(memory, id_of(stream));
}

void warpheap_torch_record_stream(void* memory, void* stream) {
  recorded_streams& all = recorded();
  const std::lock_guard guard(all.lock);
  all.of_block[memory].push_back(id_of(stream));
  all.blocks.store(all.of_block.size(), std::memory_order_relaxed);
}

}  // extern "C"
