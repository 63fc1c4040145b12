// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steady load with more demand than memory: the kernels of the survey's case `steady`, in three
// queues at once, with every word of every block checked, and blocks in use counted at the end. The
// heap is filled when it is new, and in the end again: then it holds as many blocks.
//
//   steady MANAGER|all SECONDS HEAP_BYTES LANES [limited]   limited: a launch above its limit fails
//   steady limits                                           a line NAME FOLDER LIMIT_MS for each
//
// Fails if contents were wrong, if blocks were lost, by the manager's books or by what the heap
// holds, if the invariants do not hold, or if a launch took longer than the manager's limit
// (launch_limit.hpp). On a GPU, `all` runs each manager in a process of its own, and kills one that
// has not finished half a minute after its time: a manager that hangs fails, and the others run all
// the same.
#include "bench/cases/steady/kernels.hpp"
#include "warpheap/core/bits.hpp"
#include "warpheap/heap/heap.hpp"
#include "warpheap/registry.hpp"

#include "child.hpp"
#include "device_array.hpp"
#include "machine.hpp"
#include "refill.hpp"
#include "requests.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

WARPHEAP_BEGIN_NAMESPACE
namespace test {
namespace {

using steady_load::request;

template <class M>
int run(const request& asked) {
  const device on = machine();
  using lanes::steady::empty_slots;
  using lanes::steady::exchange_blocks;
  heap<M> memory(on, asked.heap_bytes);
  // Pages are smaller.
  constexpr std::size_t usual = 4096;
  const std::uint64_t most_bytes = std::uint64_t{1}
                                   << floor_log2(std::min(usual, memory.largest_block()));
  // Without `free`, a heap can be filled once.
  filling full;
  if (M::about.frees) full = fill_and_empty(on, memory, asked.lanes);
  // The mean of ten powers of two is a fifth of the largest.
  const std::uint64_t slot_count = 2 * asked.heap_bytes / (most_bytes / 5);
  const device_array<std::uint64_t> slots(slot_count);
  const device_array<bench::exchange_report> report(1);
  const device_array<bench::block_report> left(1);
  bench::exchanging load;
  load.threads = asked.lanes;
  load.rounds = 8;
  load.sizes.size_min = 8;
  load.sizes.size_max = most_bytes;
  load.alignment = M::about.alignment;
  load.whole = true;
  load.slots = slots.get();
  load.slot_count = slot_count;
  load.report = report.get();

  const std::array<device, 3> queues{on.queue(), on.queue(), on.queue()};
  // Blocks no larger than all lanes together: to ThreadSanitizer each idle lane is a thread, too.
  const auto most_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(asked.lanes, 1024));
  const std::array<std::uint32_t, 3> threads{std::min(96u, most_threads),
                                             std::min(1000u, most_threads), most_threads};
  std::uint64_t launches = 0;
  double longest = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  on.synchronize();  // queues do not wait for the heap's first kernel
  do {
    std::vector<simt::timed_launch> together;
    for (std::size_t i = 0; i < queues.size(); ++i) {
      load.sizes.seed = ++launches;
      load.sizes.sizes =
          launches % 2 == 0 ? bench::distribution::powers : bench::distribution::uniform;
      together.push_back(
          queues[i].start(simt::grid::covering(asked.lanes, threads[i]),
                          lanes::bound<exchange_blocks, handle<M>>{memory.ref(), {load}}));
    }
    for (const simt::timed_launch& one : together) longest = std::max(longest, one.ms());
  } while (elapsed() < asked.seconds);
  on.launch(covering(slot_count),
            lanes::bound<empty_slots, handle<M>>{memory.ref(), {{load, left.get()}}});
  on.synchronize();

  const bench::exchange_report found = report.read().front();
  const std::uint64_t corrupted = found.corrupted + left.read().front().corrupted;
  const validation valid = memory.validate();
  const std::uint64_t lost = M::about.frees ? memory.stats().blocks_in_use : 0;
  std::string why;
  if (!valid.ok()) why += valid.describe();
  if (M::about.frees) why += wrong_with<M>(fill_and_empty(on, memory, asked.lanes), full);
  if (corrupted != 0) why += "wrong contents; ";
  if (lost != 0) why += "blocks were lost; ";
  if (found.served == 0) why += "no request was served; ";
  if (M::about.frees && found.nulls == 0) why += "the heap was never full; ";
  if (asked.limited && longest > launch_limit<M>::ms) why += "a launch took too long; ";
  std::printf(
      "%-16s %8llu launches, longest %9.3f ms, %12llu served, %12llu null, %llu wrong, %llu "
      "lost: %s\n",
      M::about.name, static_cast<unsigned long long>(launches), longest,
      static_cast<unsigned long long>(found.served), static_cast<unsigned long long>(found.nulls),
      static_cast<unsigned long long>(corrupted), static_cast<unsigned long long>(lost),
      why.empty() ? "ok" : why.c_str());
  std::fflush(stdout);
  return why.empty() ? 0 : 1;
}

/// Lanes can take single blocks of any size, which are not handed out while in use.
template <class M>
constexpr bool bears_load = block_manager<M>&& M::about.keeps_blocks_apart();

/// A manager's exit status, in this process.
template <class M>
int run_here(const request& asked) {
  try {
    return run<M>(asked);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "steady: %s: %s\n", M::about.name, e.what());
    return 1;
  }
}

/// A manager's exit status, in a process that is killed if it hangs.
int run_apart(const char* name, const request& asked) {
  std::vector<std::string> arguments{"/proc/self/exe", name, std::to_string(asked.seconds),
                                     std::to_string(asked.heap_bytes), std::to_string(asked.lanes)};
  if (asked.limited) arguments.emplace_back("limited");
  const double most_seconds = asked.seconds + 30;
  const std::optional<int> code = run_child(std::move(arguments), most_seconds);
  if (!code) std::printf("%-16s killed: had not finished after %.0f s\n", name, most_seconds);
  if (code > 128) std::printf("%-16s ended by signal %d\n", name, *code - 128);
  std::fflush(stdout);
  return code.value_or(1);
}

}  // namespace
}  // namespace test
WARPHEAP_END_NAMESPACE

namespace warpheap::steady_load {

void list_limits() {
  managers::for_each([]<class M>(std::type_identity<M>) {
    if constexpr (test::bears_load<M>) {
      std::printf("%s %s %.0f\n", M::about.name, M::about.folder_name(), test::launch_limit<M>::ms);
    }
  });
}

/// `all` leaves out the device's built-in allocator, whose launches this repository cannot bound.
/// The CPU model runs all in this process: to ThreadSanitizer its lanes are expensive to make, and
/// are made once.
int run_steady(const request& asked) {
  int result = -1;
  const bool all = asked.manager == "all";
  managers::for_each([&]<class M>(std::type_identity<M>) {
    if (!(all && M::about.uses_region) && asked.manager != M::about.name) return;
    if constexpr (test::bears_load<M>) {
      const bool apart = all && WARPHEAP_CUDA_MODEL;
      result = std::max(result,
                        apart ? test::run_apart(M::about.name, asked) : test::run_here<M>(asked));
    }
  });
  if (result >= 0) return result;
  std::fprintf(stderr, "steady: no manager '%s' of single blocks that stay apart\n",
               asked.manager.c_str());
  return 2;
}

}  // namespace warpheap::steady_load
