// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structures of sync/ outside a memory manager: a work list that grows and shrinks. Threads
// search a binary tree of unknown shape. Nodes to visit are in a virtualised index queue, which
// takes memory from a small pool of chunks and gives it back; a bulk semaphore tells the lanes of a
// warp how many nodes there are for them. One source for both models: work_queue.cu includes this
// file.

#include <warpheap/sync/index_queue/array_directory.hpp>
#include <warpheap/sync/index_queue/bounded_queue.hpp>
#include <warpheap/warpheap.hpp>

#include <cstdio>
#include <cstdlib>

namespace simt = warpheap::simt;
namespace queues = warpheap::sync;

/// Chunks of 64 slots; those that no queue uses wait in a ring.
class pool {
 public:
  static constexpr int chunks_log2 = 4;
  static constexpr std::uint32_t chunks = 1u << chunks_log2;
  WARPHEAP_HD static constexpr int slots_log2() { return 6; }

  struct memory {
    queues::queue_ends ends;
    std::uint32_t ring[chunks];
    std::uint32_t finished[chunks];
    std::uint64_t slots[chunks][64];
    /// Semaphore: slots that the queue may use more. It may need two chunks beside those.
    std::uint64_t room;
  };

  WARPHEAP_HD explicit pool(memory* own) : own_(own) {}

  WARPHEAP_DEVICE void format() const {
    ring().format(0, 1);
    for (std::uint32_t c = 1; c < chunks; ++c) put(c);  // the queue starts with chunk 0
    own_->room = queues::bulk_semaphore::initial((chunks - 2) << slots_log2());
  }
  WARPHEAP_DEVICE std::uint64_t* slots(std::uint32_t chunk) const { return own_->slots[chunk]; }
  WARPHEAP_DEVICE std::uint32_t* finished(std::uint32_t chunk) const {
    return &own_->finished[chunk];
  }
  WARPHEAP_DEVICE std::uint32_t take() const {
    const std::uint64_t ticket = ring().draw_front(1);
    std::uint32_t chunk = 0;
    while (!ring().poll(ticket, chunk)) simt::backoff(200);
    return chunk;
  }
  WARPHEAP_DEVICE void give(std::uint32_t chunk) const {
    put(chunk);
    queues::bulk_semaphore(own_->room).signal(1u << slots_log2());
  }

 private:
  WARPHEAP_DEVICE void put(std::uint32_t chunk) const { ring().put(ring().draw_back(1), chunk); }
  WARPHEAP_DEVICE queues::static_queue<std::uint32_t> ring() const {
    return {&own_->ends, own_->ring, chunks_log2, chunks_log2};
  }
  memory* own_;
};

struct work {
  using queue = queues::bounded_queue<queues::virtual_queue<queues::array_directory, pool>>;

  struct memory {
    pool::memory chunks;
    queues::queue_ends ends;
    std::uint64_t directory[pool::chunks];
    std::uint64_t items;
    std::uint64_t open;     // nodes that were found and not yet searched
    std::uint64_t visited;  // nodes in all
    std::uint64_t waited;   // nodes that found the list full
  };

  memory* own;

  WARPHEAP_DEVICE queue list() const {
    return {queues::virtual_queue(&own->ends,
                                  queues::array_directory(own->directory, pool::chunks_log2),
                                  pool(&own->chunks)),
            &own->items, &own->chunks.room};
  }
};

constexpr int levels = 20;

/// A node is the path to it, with a leading 1. Every node has up to two children, by a hash.
WARPHEAP_HD inline bool has_child(std::uint64_t node, std::uint64_t which) {
  return node < (1u << 18) && warpheap::mix64(node * 2 + which) % 100 < (node < 64 ? 100 : 72);
}

struct prepare {
  work todo;
  WARPHEAP_DEVICE void operator()() const {
    pool(&todo.own->chunks).format();
    todo.list().positions().format(0, 1, 0);
    todo.own->items = queues::bulk_semaphore::initial(0);
    todo.own->visited = 0;
    todo.own->waited = 0;
    todo.own->open = 1;
    todo.list().push(1);  // the root
  }
};

struct search {
  work todo;
  WARPHEAP_DEVICE void operator()() const {
    const simt::atomic_ref open(todo.own->open);
    // Ends when no node is open: each was counted before its parent was taken off the count.
    while (open.load(simt::order::relaxed) != 0) {
      std::uint64_t node = 0;
      if (!todo.list().pop(node)) {
        simt::backoff(500);
        continue;
      }
      // Nodes that the list has no room for: at most one for each level of the tree.
      std::uint64_t own[levels];
      int count = 0;
      own[count++] = node;
      while (count != 0) {
        node = own[--count];
        simt::atomic_ref(todo.own->visited).fetch_add(1, simt::order::relaxed);
        for (std::uint64_t which = 0; which < 2; ++which) {
          if (!has_child(node, which)) continue;
          open.fetch_add(1, simt::order::relaxed);
          if (!todo.list().push(node * 2 + which)) {
            own[count++] = node * 2 + which;
            simt::atomic_ref(todo.own->waited).fetch_add(1, simt::order::relaxed);
          }
        }
        open.fetch_sub(1, simt::order::relaxed);
      }
    }
  }
};

std::uint64_t nodes_below(std::uint64_t node) {
  std::uint64_t sum = 1;
  for (std::uint64_t which = 0; which < 2; ++which) {
    if (has_child(node, which)) sum += nodes_below(node * 2 + which);
  }
  return sum;
}

int main() {
  try {
#if WARPHEAP_CUDA_MODEL
    const auto device = warpheap::device::cuda(0);
#else
    const auto device = warpheap::device::cpu();
#endif
    warpheap::device_memory memory(device, sizeof(work::memory));
    const work todo{reinterpret_cast<work::memory*>(memory.get())};
    device.launch({1, 1}, prepare{todo});
    device.launch({8, 128}, search{todo});
    device.synchronize();

    work::memory result;
    device.copy_to_host(&result, memory.get(), sizeof result);
    const std::uint64_t expected = nodes_below(1);
    std::printf("%llu nodes were visited, %llu are in the tree; %llu found the list full\n",
                static_cast<unsigned long long>(result.visited),
                static_cast<unsigned long long>(expected),
                static_cast<unsigned long long>(result.waited));
    std::printf("the list is empty again: %lld nodes; its chunks have room for %lld\n",
                static_cast<long long>(queues::bulk_semaphore::decode(result.items).count),
                static_cast<long long>(queues::bulk_semaphore::decode(result.chunks.room).count));
    return result.visited == expected ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const warpheap::error& problem) {
    std::fprintf(stderr, "work_queue: %s\n", problem.what());
    return EXIT_FAILURE;
  }
}
