// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steady load with more demand than memory, on one manager: launches of blocks of 96, 1000 and 1024
// threads, on CUDA in three streams at once, whose lanes allocate, fill, exchange, check and free
// blocks, and leave at different times. Blocks change hands through a table of slots that wants
// about twice the heap, so most requests meet a heap that is nearly full, and blocks are freed by
// other lanes, blocks and streams than those that took them.
//
//   steady MANAGER SECONDS HEAP_BYTES LANES [LIMIT_MS]     MANAGER: a name, or all
//
// Prints one JSON row a manager: launches, the longest one in milliseconds, blocks, nulls, blocks
// with wrong contents, blocks in use in the end. Fails if contents were wrong, if blocks were lost,
// if the invariants do not hold, or if a launch took longer than the limit.
#include "warpheap/core/random.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/registry.hpp"

#include "device_array.hpp"
#include "machine.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

struct counts {
  std::uint64_t blocks;
  std::uint64_t nulls;
  std::uint64_t corrupted;
};

/// The first word of a block says how large it is and with what it was filled.
struct filled {
  WARPHEAP_HD static constexpr std::uint64_t label(std::uint64_t seed, std::uint32_t bytes) {
    return (seed << 32) | bytes;
  }
  WARPHEAP_DEVICE static void write(void* block, std::uint64_t label) {
    auto* const words = static_cast<std::uint64_t*>(block);
    words[0] = label;
    for (std::uint32_t i = 1; i < static_cast<std::uint32_t>(label) / 8; ++i) {
      words[i] = mix64(label + i);
    }
  }
  WARPHEAP_DEVICE static bool intact(const void* block, std::uint32_t most_bytes) {
    const auto* const words = static_cast<const std::uint64_t*>(block);
    const std::uint64_t label = words[0];
    const auto bytes = static_cast<std::uint32_t>(label);
    if (bytes < 16 || bytes > most_bytes) return false;
    bool same = true;
    for (std::uint32_t i = 1; i < bytes / 8; ++i) same = same && words[i] == mix64(label + i);
    return same;
  }
};

template <class M>
struct exchange_blocks {
  handle<M> heap;
  std::uint64_t* slots;
  std::uint64_t slot_count;
  counts* seen;
  std::uint64_t seed;
  std::uint32_t rounds;
  std::uint32_t most_bytes;

  WARPHEAP_DEVICE void operator()() const {
    random_sequence random(mix64(seed) ^ mix64(simt::thread_rank() + 1));
    counts mine{};
    // Lanes leave after different numbers of rounds, so warps thin out.
    const std::uint32_t last = 1 + random.below(rounds);
    for (std::uint32_t round = 0; round < last; ++round) {
      // Sizes of every magnitude, in multiples of eight.
      const std::uint32_t limit = most_bytes >> random.below(6);
      const std::uint32_t bytes = 16 + random.below(limit < 24 ? 1 : limit - 16) / 8 * 8;
      void* const block = heap.malloc(bytes);
      if (block == nullptr) {
        ++mine.nulls;
      } else {
        ++mine.blocks;
        filled::write(block, filled::label(random.next() >> 32, bytes));
      }
      // Release and acquire: contents travel with the address.
      const std::uint64_t slot = random.next() % slot_count;
      auto* const other = reinterpret_cast<void*>(
          simt::atomic_ref(slots[slot])
              .exchange(reinterpret_cast<std::uint64_t>(block), simt::order::acq_rel));
      if (other != nullptr) check_and_free(other, mine);
    }
    add(seen->blocks, mine.blocks);
    add(seen->nulls, mine.nulls);
    add(seen->corrupted, mine.corrupted);
  }

  WARPHEAP_DEVICE void check_and_free(void* block, counts& mine) const {
    mine.corrupted += filled::intact(block, most_bytes) ? 0 : 1;
    heap.free(block);
  }
  WARPHEAP_DEVICE static void add(std::uint64_t& counter, std::uint64_t amount) {
    if (amount != 0) simt::atomic_ref(counter).fetch_add(amount, simt::order::relaxed);
  }
};

/// Everything that is still in the table is checked and freed.
template <class M>
struct empty_table {
  exchange_blocks<M> load;
  WARPHEAP_DEVICE void operator()() const {
    const std::uint64_t rank = simt::thread_rank();
    if (rank >= load.slot_count || load.slots[rank] == 0) return;
    counts mine{};
    load.check_and_free(reinterpret_cast<void*>(load.slots[rank]), mine);
    load.slots[rank] = 0;
    exchange_blocks<M>::add(load.seen->corrupted, mine.corrupted);
  }
};

struct request {
  std::string manager;
  double seconds;
  std::size_t heap_bytes;
  std::uint64_t lanes;
  double limit_ms;
};

template <class M>
int run(const request& asked) {
  heap<M> memory(machine(), asked.heap_bytes);
  // Pages are smaller.
  constexpr std::size_t usual = 4096;
  const auto most_bytes = static_cast<std::uint32_t>(std::min(usual, memory.largest_block()));
  // The mean of the sizes is about a sixth of the largest.
  const std::uint64_t slot_count = 2 * asked.heap_bytes / (most_bytes / 6);
  const device_array<std::uint64_t> slots(slot_count);
  const device_array<counts> seen(1);
  const exchange_blocks<M> load{memory.ref(), slots.get(), slot_count, seen.get(), 0, 8,
                                most_bytes};
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  constexpr std::array<std::uint32_t, 3> threads{96, 1000, 1024};
  std::array<double, 3> longest{};
  std::array<std::uint64_t, 3> launches{};
  std::array<std::string, 3> failed;
  const auto one_launch = [&](std::size_t stream) {
    exchange_blocks<M> mine = load;
    mine.seed = mix64(++launches[stream]) + stream;
    const auto shape = simt::grid::covering(asked.lanes, threads[stream]);
    longest[stream] = std::max(longest[stream], machine().time(shape, mine));
  };
  const auto until_the_end = [&](std::size_t first, std::size_t last) {
    try {
      do {
        for (std::size_t stream = first; stream < last; ++stream) one_launch(stream);
      } while (elapsed() < asked.seconds);
    } catch (const std::exception& e) {
      failed[first] = e.what();
    }
  };
  // On CUDA each host thread has a default stream of its own: the program is compiled that way. A
  // launch of the CPU model uses all workers, so launches come one after the other.
  constexpr std::size_t in_turn = WARPHEAP_CUDA_MODEL ? 1 : threads.size();
  std::vector<std::thread> streams;
  for (std::size_t i = 0; i < threads.size(); i += in_turn) {
    streams.emplace_back(until_the_end, i, i + in_turn);
  }
  for (std::thread& stream : streams) stream.join();
  machine().launch(covering(slot_count), empty_table<M>{load});
  const counts found = seen.read().front();
  const validation valid = memory.validate();
  const std::uint64_t left = M::about.frees ? memory.stats().blocks_in_use : 0;
  const double most = *std::max_element(longest.begin(), longest.end());
  std::string why;
  for (const std::string& each : failed) why += each;
  if (!valid.ok()) why += valid.describe();
  if (found.corrupted != 0) why += "wrong contents; ";
  if (left != 0) why += "blocks were lost; ";
  if (found.blocks == 0) why += "no request was served; ";
  if (M::about.frees && found.nulls == 0) why += "the heap was never full; ";
  if (asked.limit_ms > 0 && most > asked.limit_ms) why += "a launch took too long; ";
  std::printf(
      "{\"schema\":1,\"case\":\"steady\",\"manager\":\"%s\",\"backend\":\"%s\",\"lanes\":%llu,"
      "\"heap_bytes\":%zu,\"seconds\":%.1f,\"launches\":%llu,\"longest_ms\":%.3f,\"blocks\":%llu,"
      "\"null_returns\":%llu,\"corrupted\":%llu,\"blocks_in_use\":%llu,\"status\":\"%s\"}\n",
      M::about.name, machine().properties().backend.c_str(),
      static_cast<unsigned long long>(asked.lanes), asked.heap_bytes, elapsed(),
      static_cast<unsigned long long>(launches[0] + launches[1] + launches[2]), most,
      static_cast<unsigned long long>(found.blocks), static_cast<unsigned long long>(found.nulls),
      static_cast<unsigned long long>(found.corrupted), static_cast<unsigned long long>(left),
      why.empty() ? "ok" : "failed");
  if (!why.empty()) std::fprintf(stderr, "steady: %s: %s\n", M::about.name, why.c_str());
  return why.empty() ? 0 : 1;
}

/// The worst exit status of the managers that were asked for and whose lanes can free single blocks
/// of any size; one that throws does not keep the others from running.
int find_and_run(const request& asked) {
  int result = -1;
  managers::for_each([&]<class M>(std::type_identity<M>) {
    if (asked.manager != "all" && asked.manager != M::about.name) return;
    if constexpr (block_manager<M>) {
      int code = 1;
      try {
        code = run<M>(asked);
      } catch (const std::exception& e) {
        std::fprintf(stderr, "steady: %s: %s\n", M::about.name, e.what());
      }
      std::fflush(stdout);
      result = std::max(result, code);
    }
  });
  if (result >= 0) return result;
  std::fprintf(stderr, "steady: no manager '%s' of single blocks\n", asked.manager.c_str());
  return 2;
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fprintf(stderr, "usage: steady MANAGER|all SECONDS HEAP_BYTES LANES [LIMIT_MS]\n");
    return 2;
  }
  return warpheap::test::find_and_run(
      {argv[1], std::atof(argv[2]), std::strtoull(argv[3], nullptr, 10),
       std::strtoull(argv[4], nullptr, 10), argc > 5 ? std::atof(argv[5]) : 0});
}
